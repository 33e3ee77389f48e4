// Products by mma.sync of fragments that ldmatrix loads. SYNCS: block barriers a turn. LOADS: 0 the fragments stay in
// registers, 1 each step loads its own, 2 those of the next one.
#include "fragments.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out per CTA: its SM, its first and its last clock.
extern "C" __global__ void fragments(long long *out, int turns) {
    __shared__ Stopwatch watch;
    for (u32 i = threadIdx.x; i < BYTES / 4; i += blockDim.x) ((u32 *)arena)[i] = 0;
    const u32 base = shared_address(arena);
    float sum[ROWS][COLUMNS][4] = {};
    Fragments of[2];
    fetch(of[0], base, 0, 0);
    if (STEPS > 1) fetch(of[1], base, 0, 1);
    stopwatch_reset(&watch);
    const long long start = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
        const u32 stage = t % 2 * DEPTH;
        if (SYNCS) __syncthreads();
        if (LOADS == 2) fetch(of[0], base, stage, 0);
#pragma unroll
        for (int k = 0; k < STEPS; ++k) {
            if (LOADS == 1) fetch(of[k % 2], base, stage, k);
            if (LOADS == 2 && k + 1 < STEPS) fetch(of[(k + 1) % 2], base, stage, k + 1);
            multiply(sum, of[k % 2]);
        }
        if (SYNCS > 1) __syncthreads();
    }
    const long long stop = cycles();
    stopwatch_add(&watch, start, stop);
    __syncthreads();
    if (threadIdx.x == 0) {
        out[3 * blockIdx.x] = sm_id();
        out[3 * blockIdx.x + 1] = watch.first;
        out[3 * blockIdx.x + 2] = watch.last;
    }
    if (total(sum) == 1234.5f) out[0] = 0;
}
