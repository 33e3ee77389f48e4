// What local memory costs, where the compiler puts values for which no register is left: each turn a thread loads its
// VALUES floats (OP 1), adds them up, and stores them again (OP 2), as it does with spilled sums. APART 1: one value
// after the other (needs OP 3), so that each load waits behind the store before it.
#include "common.cuh"

#ifndef SUMS

// out per CTA: cycles of all turns.
extern "C" __global__ void __launch_bounds__(1024) local_turns(long long *out, int turns, long long pause, int first) {
    __shared__ Stopwatch watch;
    __shared__ u32 sink;
    float values[VALUES];
    const u64 base = __cvta_generic_to_local(values + first);   // 0, but the compiler must not know
    float sum = threadIdx.x;
#pragma unroll
    for (int i = 0; i < VALUES; ++i) asm volatile("st.local.f32 [%0], %1;" ::"l"(base + 4 * i), "f"(sum) : "memory");
    spin(2000);
    stopwatch_reset(&watch);
    const long long start = cycles();
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
        const u64 here = base + (u64)(turn * first);
#if APART
#pragma unroll
        for (int i = 0; i < VALUES; ++i) {
            const u64 own = here + (u64)(i * (4 + first));   // may be any other's, for all the compiler knows
            float held;
            asm volatile("ld.local.f32 %0, [%1];" : "=f"(held) : "l"(own) : "memory");
            sum += held;
            asm volatile("st.local.f32 [%0], %1;" ::"l"(own), "f"(sum) : "memory");
        }
#else
#if OP & 1
        float held[VALUES];
#pragma unroll
        for (int i = 0; i < VALUES; ++i)
            asm volatile("ld.local.f32 %0, [%1];" : "=f"(held[i]) : "l"(here + 4 * i) : "memory");
#pragma unroll
        for (int i = 0; i < VALUES; ++i) sum += held[i];
#endif
#if OP & 2
#pragma unroll
        for (int i = 0; i < VALUES; ++i)
            asm volatile("st.local.f32 [%0], %1;" ::"l"(here + 4 * i), "f"(sum) : "memory");
#endif
#endif
        if (pause) spin(pause);
    }
    stopwatch_add(&watch, start, cycles_after(__float_as_uint(sum), &sink));
    stopwatch_store(&watch, out + blockIdx.x);
}
#else

// The compiler's own spills: SUMS floats per thread where a launch of 1024 threads leaves 64 registers for each.
extern "C" __global__ void __launch_bounds__(1024) spilled_turns(long long *out, int turns, float step) {
    __shared__ Stopwatch watch;
    __shared__ u32 sink;
    float sums[SUMS];
#pragma unroll
    for (int i = 0; i < SUMS; ++i) sums[i] = threadIdx.x;
    stopwatch_reset(&watch);
    const long long start = cycles();
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < SUMS; ++i) asm volatile("add.f32 %0, %0, %1;" : "+f"(sums[i]) : "f"(step));
    }
    float total = 0.f;
#pragma unroll
    for (int i = 0; i < SUMS; ++i) total += sums[i];
    stopwatch_add(&watch, start, cycles_after(__float_as_uint(total), &sink));
    stopwatch_store(&watch, out + blockIdx.x);
}
#endif
