// Writes (COPY 1: of what was read) in order of address or not: 16 bytes per lane, four vectors in flight.
#include "common.cuh"

#define UNROLL 4

// STRIDE 1: all CTAs are there from the beginning and go through memory side by side, `turns` steps.
// STRIDE 0: they come and go, each with `turns` * UNROLL * threads vectors that lie behind each other.
extern "C" __global__ void __launch_bounds__(256)
in_order(const uint4 *source, uint4 *target, int turns) {
    const u64 width = STRIDE ? (u64)gridDim.x * blockDim.x : blockDim.x;
    u64 i = (u64)blockIdx.x * blockDim.x * (STRIDE ? 1 : turns * UNROLL) + threadIdx.x;
    for (int t = 0; t < turns; ++t, i += UNROLL * width) {
        uint4 v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) v[u] = COPY ? source[i + u * width] : make_uint4(t, u, 3, 7);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) target[i + u * width] = v[u];
    }
}
