// CTA barriers one behind the other, in all CTAs of an SM at the same time.
#include "common.cuh"

#define UNROLLED 16

// out per CTA: its SM, and the cycles at which it begins and ends there.
extern "C" __global__ void __launch_bounds__(1024) barrier_unit(long long *out, int turns) {
    __syncthreads();
    const long long start = cycles();
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int u = 0; u < UNROLLED; ++u) asm volatile("bar.sync 0;" ::: "memory");
    }
    const long long stop = cycles();
    if (threadIdx.x == 0) {
        out[3 * blockIdx.x] = sm_id();
        out[3 * blockIdx.x + 1] = start;
        out[3 * blockIdx.x + 2] = stop;
    }
}
