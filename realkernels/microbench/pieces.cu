#include "common.cuh"

// CTAs come and go, each with a piece of `turns` * UNROLL * threads vectors; piece after piece, or `step` pieces on.
// OP 0: reads, 1: copies, 2: writes.
extern "C" __global__ void __launch_bounds__(512, 4)
pieces(const uint4 *source, uint4 *target, int turns, unsigned step) {
    const unsigned piece = blockIdx.x * step & (gridDim.x - 1);
    u64 i = (u64)piece * blockDim.x * turns * UNROLL + threadIdx.x;
    for (int t = 0; t < turns; ++t) {
        uint4 v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) v[u] = OP < 2 ? source[i + u * blockDim.x] : make_uint4(t, u, 3, 7);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u, i += blockDim.x) {
            if (OP > 0 || v[u].x + v[u].y + v[u].z + v[u].w == 12345u) target[i] = v[u];
        }
    }
}
