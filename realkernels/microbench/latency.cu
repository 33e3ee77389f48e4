// Global-memory latency by pointer chase: each node holds the address of the next one.
// BYPASS_L1 = 0 is a plain load, through L1; 1 goes to L2 at once.
#include "common.cuh"

__device__ __forceinline__ u64 next_of(u64 p) {
    u64 v;
#if BYPASS_L1
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
#else
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
#endif
    return v;
}

// out[0]: cycles of `steps` unstamped steps; out[1 + i]: one step of `stamped` between two stamps.
// The first gives the exact mean, the second the distribution (near and far partition).
extern "C" __global__ void latency(long long *out, u64 first, int warm, int steps, int stamped) {
    __shared__ u32 sink;
    u64 p = first;
#pragma unroll 1
    for (int s = 0; s < warm; ++s) p = next_of(p);
    long long start = cycles_after((u32)p, &sink);
#pragma unroll 1
    for (int s = 0; s < steps; s += 8) {
#pragma unroll
        for (int u = 0; u < 8; ++u) p = next_of(p);
    }
    long long stop = cycles_after((u32)p, &sink);
    out[0] = stop - start;
#pragma unroll 1
    for (int s = 0; s < stamped; ++s) {
        long long before = cycles();
        p = next_of(p);
        long long after = cycles_after((u32)p, &sink);
        out[1 + s] = after - before;
    }
    out[1 + stamped] = (long long)p;
}
