// How often loads from shared memory, and stores to it, pass whose lanes want any words: lane l's address is offsets[l].
// WORDS is the width in 32-bit words (1, 2, 4).
#include "shared_access.cuh"

extern __shared__ __align__(128) unsigned char arena[];

extern "C" __global__ void __launch_bounds__(1024) load_banks(long long *out, const int *offsets, int turns, int repeats) {
    time_loads(out, shared_address(arena) + offsets[threadIdx.x % 32], turns, repeats);
}

extern "C" __global__ void __launch_bounds__(1024) store_banks(long long *out, const int *offsets, int turns, int repeats) {
    __shared__ Stopwatch watch;
    const u32 at = shared_address(arena) + offsets[threadIdx.x % 32];
    u32 v[WORDS];
    for (int w = 0; w < WORDS; ++w) v[w] = threadIdx.x;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#pragma unroll
            for (int u = 0; u < 8; ++u) STORE(at, v);
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
}
