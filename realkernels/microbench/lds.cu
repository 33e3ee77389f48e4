// Shared memory alone: latency by pointer chase, throughput by independent accesses, store-to-load.
// WORDS is the width in 32-bit words (1, 2, 4). SHARING: which lanes of a warp load the same words; 0 none, 1 pairs of
// neighbours, 2 each with the one half a warp away, 3 all.
#include "shared_access.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// Each word-group holds the address of the next; the other words are folded in off the chain.
extern "C" __global__ void chase(long long *out, int steps, int repeats) {
    __shared__ u32 sink;
    u32 base = shared_address(arena);
    u32 rest = 0;
    // A per-lane ring of two groups: lanes stay on their own banks, no conflict.
    u32 here = base + threadIdx.x * WORDS * 4, there = here + 32 * WORDS * 4;
    u32 v[WORDS];
    for (int w = 0; w < WORDS; ++w) v[w] = 0;
    v[0] = there;
    STORE(here, v);
    v[0] = here;
    STORE(there, v);
    __syncwarp();
    for (int r = 0; r < repeats; ++r) {
        u32 p = here;
        long long start = cycles();
#pragma unroll 1
        for (int s = 0; s < steps; s += 16) {
#pragma unroll
            for (int u = 0; u < 16; ++u) {
                LOAD(v, p);
                p = v[0];
                for (int w = 1; w < WORDS; ++w) rest ^= v[w];
            }
        }
        long long stop = cycles_after(p, &sink);
        if (threadIdx.x == 0) out[r] = stop - start;
    }
    if (rest == 0x12345678u) out[0] = rest;
}

#ifndef SHARING
#define SHARING 0
#endif

__device__ __forceinline__ u32 place(u32 thread) {
    const u32 lane = thread % 32, warp = thread - lane;
    return warp + (SHARING == 0 ? lane : SHARING == 1 ? lane / 2 : SHARING == 2 ? lane % 16 : 0);
}

#ifndef BATCH
#define BATCH 8
#endif

// BATCH independent loads per turn; consumption is one logic operation per word, or nothing but the wait (QUIET).
extern "C" __global__ void __launch_bounds__(1024) load_rate(long long *out, int turns, int repeats) {
    __shared__ Stopwatch watch;
    // Masked to the arena: conflict-free whatever the number of warps.
    u32 at = shared_address(arena) + place(threadIdx.x & 255) * WORDS * 4;
    u32 rest = 0;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
            u32 v[BATCH][WORDS];
#pragma unroll
            for (int u = 0; u < BATCH; ++u) LOAD(v[u], at + u % 8 * 256 * WORDS * 4);
#ifdef QUIET
            rest ^= v[BATCH - 1][0];
#else
#pragma unroll
            for (int u = 0; u < BATCH; ++u)
                for (int w = 0; w < WORDS; ++w) rest ^= v[u][w];
#endif
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
    if (rest == 0x12345678u) out[0] = rest;
}

extern "C" __global__ void __launch_bounds__(1024) store_rate(long long *out, int turns, int repeats) {
    __shared__ Stopwatch watch;
    u32 at = shared_address(arena) + (threadIdx.x & 255) * WORDS * 4;
    u32 v[WORDS];
    for (int w = 0; w < WORDS; ++w) v[w] = threadIdx.x + w;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t)
#pragma unroll
            for (int u = 0; u < BATCH; ++u) STORE(at + u % 8 * 256 * WORDS * 4, v);
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
}

// The stored value is the loaded one: each turn is one store, one load of the same address.
extern "C" __global__ void round_trip(long long *out, int steps, int repeats) {
    __shared__ u32 sink;
    u32 at = shared_address(arena) + threadIdx.x * WORDS * 4;
    u32 v[WORDS];
    for (int w = 0; w < WORDS; ++w) v[w] = threadIdx.x + w;
    for (int r = 0; r < repeats; ++r) {
        long long start = cycles();
#pragma unroll 1
        for (int s = 0; s < steps; s += 8)
#pragma unroll
            for (int u = 0; u < 8; ++u) {
                STORE(at, v);
                LOAD(v, at);
            }
        long long stop = cycles_after(v[0], &sink);
        if (threadIdx.x == 0) out[r] = stop - start;
    }
    if (v[0] + v[WORDS - 1] == 0x12345678u) out[0] = v[0];
}
