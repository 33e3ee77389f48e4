// Streaming over device memory, 16 bytes per lane: READS streams in, WRITES streams out.
// COPY = 1 writes what was read; otherwise writes do not wait for reads.
#include "common.cuh"

#define UNROLL 4

// `vectors` per stream is a multiple of UNROLL * threads of the grid.
extern "C" __global__ void __launch_bounds__(512)
stream(u32 *sink, const uint4 *source, uint4 *target, u64 vectors) {
    const u64 step = (u64)gridDim.x * blockDim.x;
    u32 rest = 0;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += UNROLL * step) {
#if READS
        uint4 v[READS][UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            for (int s = 0; s < READS; ++s) v[s][u] = source[s * vectors + i + u * step];
#endif
#if WRITES
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            for (int s = 0; s < WRITES; ++s) {
#if COPY
                target[s * vectors + i + u * step] = v[s][u];
#else
                target[s * vectors + i + u * step] = make_uint4(i, s, u, 7);
#endif
            }
#endif
#if READS && !COPY
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            for (int s = 0; s < READS; ++s) rest ^= v[s][u].x ^ v[s][u].y ^ v[s][u].z ^ v[s][u].w;
#endif
    }
    if (rest == 0x12345678u) *sink = rest;
}
