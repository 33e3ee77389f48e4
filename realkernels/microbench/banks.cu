// How often loads from shared memory, and stores to it, pass whose lanes want any words: lane l's address is offsets[l].
// WORDS is the width in 32-bit words (1, 2, 4).
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

#if WORDS == 1
#define LOAD(v, p) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v[0]) : "r"(p) : "memory")
#define STORE(p, v) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(p), "r"(v) : "memory")
#elif WORDS == 2
#define LOAD(v, p) asm volatile("ld.volatile.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(p) : "memory")
#define STORE(p, v) asm volatile("st.volatile.shared.v2.u32 [%0], {%1,%1};" ::"r"(p), "r"(v) : "memory")
#else
#define LOAD(v, p)                                                     \
    asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"      \
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])      \
                 : "r"(p)                                              \
                 : "memory")
#define STORE(p, v) asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(p), "r"(v) : "memory")
#endif

extern "C" __global__ void __launch_bounds__(1024) load_banks(long long *out, const int *offsets, int turns, int repeats) {
    __shared__ Stopwatch watch;
    const u32 at = shared_address(arena) + offsets[threadIdx.x % 32];
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

extern "C" __global__ void __launch_bounds__(1024) store_banks(long long *out, const int *offsets, int turns, int repeats) {
    __shared__ Stopwatch watch;
    const u32 at = shared_address(arena) + offsets[threadIdx.x % 32];
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#pragma unroll
            for (int u = 0; u < 8; ++u) STORE(at, threadIdx.x);
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
}
