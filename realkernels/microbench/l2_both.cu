// L2 read and written at once by all SMs: READS streams in, past L1, and WRITES streams out, 16 bytes per lane.
// Writes do not wait for reads.
#include "common.cuh"

// Each stream is `vectors` long, a multiple of the threads of the grid.
extern "C" __global__ void __launch_bounds__(512)
l2_both(u32 *sink, const uint4 *source, uint4 *target, u64 vectors, int passes) {
    const u64 step = (u64)gridDim.x * blockDim.x;
    u32 rest = 0;
    for (int p = 0; p < passes; ++p) {
        // Each pass deals the streams differently: an SM must not get the same lines every time.
        u64 i = (u64)((blockIdx.x + 37u * p) % gridDim.x) * blockDim.x + threadIdx.x;
        for (; i < vectors; i += step) {
#if READS
            uint4 v[READS];
#pragma unroll
            for (int s = 0; s < READS; ++s) v[s] = __ldcg(source + s * vectors + i);
#endif
#if WRITES
#pragma unroll
            for (int s = 0; s < WRITES; ++s) target[s * vectors + i] = make_uint4(i, s, p, 7);
#endif
#if READS
#pragma unroll
            for (int s = 0; s < READS; ++s) rest ^= v[s].x ^ v[s].y ^ v[s].z ^ v[s].w;
#endif
        }
    }
    if (rest == 0x12345678u) *sink = rest;
}
