// Plain loads: UNROLL independent loads of WIDTH bytes in flight per thread, then all consumed.
// STORE = 1 stores them to shared memory instead, as a kernel does that fills its tile by hand.
// MAX_THREADS bounds the registers: 512 leaves room for 16 vectors, 1024 for one SM full of warps.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// Plain ld.global, not the read-only path: what the compiler emits for data a kernel may also write.
#if WIDTH == 4
#define WORDS 1
#define LOAD(v, p) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[0]) : "l"(p) : "memory")
#elif WIDTH == 8
#define WORDS 2
#define LOAD(v, p) asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "l"(p) : "memory")
#else
#define WORDS 4
#define LOAD(v, p)                                                \
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"          \
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) \
                 : "l"(p)                                         \
                 : "memory")
#define STORE_SHARED(p, v)                                                                                  \
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(p), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) \
                 : "memory")
#endif

// Warp w starts at w * warp_stride and moves by `step` per turn, all masked to `range`: the host
// chooses dealt tiles (step = all warps' chunks) or private ranges (step = one chunk).
// out[cta]: cycles of the CTA; out[grid + cta]: SM.
extern "C" __global__ void __launch_bounds__(MAX_THREADS)
ldg(long long *out, const unsigned char *source, u64 warp_stride, u64 step, u64 range, int turns) {
    __shared__ Stopwatch watch;
    stopwatch_reset(&watch);
    int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    u64 offset = (warp * warp_stride) & (range - 1);
#if STORE
    const u32 tile = shared_address(arena) + ((threadIdx.x / 32) * 32 * UNROLL + lane) * WIDTH;
#endif
    u32 rest = 0;
    long long start = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
        const unsigned char *from = source + offset + lane * WIDTH;
        u32 v[UNROLL][WORDS];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) LOAD(v[u], from + 32 * WIDTH * u);
        offset = (offset + step) & (range - 1);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
#if STORE
            STORE_SHARED(tile + 32 * WIDTH * u, v[u]);
#else
            for (int w = 0; w < WORDS; ++w) rest ^= v[u][w];
#endif
        }
    }
    long long stop = cycles();
    stopwatch_add(&watch, start, stop);
    stopwatch_store(&watch, out + blockIdx.x);
    if (threadIdx.x == 0) out[gridDim.x + blockIdx.x] = sm_id();
    if (rest == 0x12345678u) out[0] = rest;
}
