// What an access costs that touches more sectors than it needs: strided and random, WIDTH bytes per lane,
// UNROLL in flight per thread. Lanes of a warp are `stride` vectors apart; a warp's next access follows
// behind those of all others. RANDOM: every block of SEGMENT bytes lies
// anywhere; ALONE: one lane in each, else as many as fill it. STORE: the same with st.global.
#include "common.cuh"

#if WIDTH == 4
#define WORDS 1
#define LOAD(v, p) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[0]) : "l"(p) : "memory")
#define PUT(p, v) asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory")
#elif WIDTH == 8
#define WORDS 2
#define LOAD(v, p) asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "l"(p) : "memory")
#define PUT(p, v) asm volatile("st.global.v2.u32 [%0], {%1,%1};" ::"l"(p), "r"(v) : "memory")
#else
#define WORDS 4
#define LOAD(v, p)                                                \
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"          \
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) \
                 : "l"(p)                                         \
                 : "memory")
#define PUT(p, v) asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(p), "r"(v) : "memory")
#endif

// The region has 2^bits bytes.
__device__ __forceinline__ u64 place(u64 index, u64 stride, int bits) {
    const u64 last = (1ull << bits) - 1;
#if RANDOM
    // A well-mixed number of the block, so that two of them meet only by chance.
    const u32 lanes = ALONE ? 1 : SEGMENT / WIDTH;
    u64 x = (index / lanes) * 0x9E3779B97F4A7C15ull;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9ull;
    x ^= x >> 32;
    return ((x * SEGMENT) & last) + index % lanes * WIDTH;
#else
    // After each turn round the range the next vector, so that no sector comes twice before all have come.
    const u64 at = index * stride * WIDTH;
    return (at + (at >> bits) * WIDTH) & last;
#endif
}

// out[cta]: cycles; out[grid + cta]: SM; out[2 grid + cta]: of it until the last access was issued (first turn).
extern "C" __global__ void __launch_bounds__(1024)
access(long long *out, unsigned char *memory, u64 stride, int bits, int turns) {
    __shared__ Stopwatch watch, issue;
    stopwatch_reset(&watch);
    stopwatch_reset(&issue);
    const u64 threads = (u64)gridDim.x * blockDim.x;
    u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 rest = 0;
    long long start = cycles(), issued = start;
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
        unsigned char *p[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) p[u] = memory + place(index + u * threads, stride, bits);
#if STORE
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) PUT(p[u], (u32)index);
        if (t == 0) issued = cycles();
#else
        u32 v[UNROLL][WORDS];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) LOAD(v[u], p[u]);
        if (t == 0) issued = cycles();
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            for (int w = 0; w < WORDS; ++w) rest ^= v[u][w];
#endif
        index += UNROLL * threads;
    }
    // A register that is read waits for its load; the clock alone would not.
    __shared__ u32 sink;
    long long stop = cycles_after(rest, &sink);
    stopwatch_add(&watch, start, stop);
    stopwatch_add(&issue, start, issued);
    stopwatch_store(&watch, out + blockIdx.x);
    stopwatch_store(&issue, out + 2 * gridDim.x + blockIdx.x);
    if (threadIdx.x == 0) out[gridDim.x + blockIdx.x] = sm_id();
}
