// How often loads from shared memory pass of which lanes want the same words, or words of one bank: lane l loads the
// element l / GROUP % PERIOD, elements lie STEP bytes apart. WORDS is the width in 32-bit words (1, 2, 4).
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

#if WORDS == 1
#define LOAD(v, p) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v[0]) : "r"(p) : "memory")
#elif WORDS == 2
#define LOAD(v, p) asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(p) : "memory")
#else
#define LOAD(v, p)                                                     \
    asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"      \
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])      \
                 : "r"(p)                                              \
                 : "memory")
#endif

extern "C" __global__ void __launch_bounds__(1024) words(long long *out, int turns, int repeats) {
    __shared__ Stopwatch watch;
    const u32 at = shared_address(arena) + threadIdx.x % 32 / GROUP % PERIOD * STEP;
    u32 rest = 0;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
            u32 v[8][WORDS];
#pragma unroll
            for (int u = 0; u < 8; ++u) LOAD(v[u], at);
#pragma unroll
            for (int u = 0; u < 8; ++u)
                for (int w = 0; w < WORDS; ++w) rest ^= v[u][w];
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
    if (rest == 0x12345678u) out[0] = rest;
}
