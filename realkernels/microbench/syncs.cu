// How many mbarrier operations an SM takes: every warp does one after another, one lane each.
// OP 0: arrive; 1: try_wait on a phase that is complete; 2: both in turn. SHARED 1: all warps of a CTA use one barrier.
// FFMAS: so many of four chains behind each of them, or each pair.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(1024)
syncs(long long *out, int turns, int repeats) {
    __shared__ __align__(8) u64 storage[64];
    __shared__ Stopwatch watch;
    const u32 first = shared_address(storage);
    if (threadIdx.x == 0) {
        for (int s = 0; s < 64; ++s) barrier_init(first + 8 * s, 1u << 19);
        barrier_init_fence();
    }
    __syncthreads();
    const u32 mine = SHARED ? 0 : threadIdx.x / 32;
    const u32 open = first + 8 * mine, counted = first + 8 * (32 + mine);
    float x[4] = {1.f, 2.f, 3.f, (float)threadIdx.x};
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#pragma unroll
            for (int i = 0; i < 8; ++i) {
#if OP != 0
                barrier_wait(open, 1);   // parity 1 of a fresh barrier
#endif
#if OP != 1
                if ((threadIdx.x & 31) == 0) barrier_arrive(counted);
#endif
#pragma unroll
                for (int f = 0; f < FFMAS; ++f)
                    asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x[f % 4]));
            }
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + blockIdx.x * repeats + r);
    }
    if (x[0] + x[1] + x[2] + x[3] == 1234.5f) out[0] = 1;
}
