#include "common.cuh"

// CTAs come and go, each with a piece of UNROLL * threads vectors of each stream, piece after piece: READS streams are
// read, WRITES streams written, `apart` vectors from one to the next.
extern "C" __global__ void __launch_bounds__(512)
mixed_pieces(const uint4 *source, uint4 *target, u64 apart) {
    const u64 i = (u64)blockIdx.x * blockDim.x * UNROLL + threadIdx.x;
    uint4 v[READS * UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u)
#pragma unroll
        for (int r = 0; r < READS; ++r) v[u * READS + r] = source[r * apart + i + u * blockDim.x];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
        uint4 sum = v[u * READS];
#pragma unroll
        for (int r = 1; r < READS; ++r) {
            const uint4 more = v[u * READS + r];
            sum = make_uint4(sum.x ^ more.x, sum.y ^ more.y, sum.z ^ more.z, sum.w ^ more.w);
        }
#pragma unroll
        for (int w = 0; w < WRITES; ++w) target[w * apart + i + u * blockDim.x] = sum;
    }
}
