// LOAD(v, p) and STORE(p, v): one access of a lane to shared memory, of WORDS 32-bit words (1, 2, 4); v: their array.
//
// Volatile in PTX: otherwise the assembler lifts repeated loads out of the loop and forwards stores to loads.
#pragma once

#include "common.cuh"

#if WORDS == 1
#define LOAD(v, p) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v[0]) : "r"(p) : "memory")
#define STORE(p, v) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(p), "r"(v[0]) : "memory")
#elif WORDS == 2
#define LOAD(v, p) asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(p) : "memory")
#define STORE(p, v) asm volatile("st.volatile.shared.v2.u32 [%0], {%1,%2};" ::"r"(p), "r"(v[0]), "r"(v[1]) : "memory")
#else
#define LOAD(v, p)                                                     \
    asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"      \
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])      \
                 : "r"(p)                                              \
                 : "memory")
#define STORE(p, v)                                                                                          \
    asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(p), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) \
                 : "memory")
#endif

// Cycles from the first to the last of `turns` times eight loads of each warp from its lanes' addresses `at`.
__device__ __forceinline__ void time_loads(long long *out, u32 at, int turns, int repeats) {
    __shared__ Stopwatch watch;
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
