// Atomics on shared memory. OP: 1 adds 1, 2 adds a register, 3 takes the greater, 4 adds and gets the old value back,
// 5 compares and swaps, 6 adds FP32, 7 adds 64 bits; the last two are loops of a load and a swap that may fail.
// LOADS: conflict-free loads of 4 bytes beside each.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

#ifndef LOADS
#define LOADS 0
#endif
constexpr int BATCH = 8;

__device__ __forceinline__ u32 update(u32 at, u32 value) {
    u32 old = 0;
#if OP == 1
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(at) : "memory");
#elif OP == 2
    asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
#elif OP == 3
    asm volatile("red.shared.max.s32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
#elif OP == 4
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old) : "r"(at), "r"(value) : "memory");
#elif OP == 5
    asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "r"(at), "r"(value), "r"(value + value) : "memory");
#elif OP == 6
    asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(at), "f"(__int_as_float(value)) : "memory");
#elif OP == 7
    asm volatile("red.shared.add.u64 [%0], %1;" ::"r"(at), "l"((u64)value) : "memory");
#endif
    return old;
}

// `turns` times eight updates of each thread, in bytes at offsets[u * 1024 + thread] for the u-th.
extern "C" __global__ void __launch_bounds__(1024) updates(long long *out, const int *offsets, u32 value, int turns, int repeats) {
    __shared__ Stopwatch watch;
    const u32 base = shared_address(arena);
    for (int i = threadIdx.x; i < 48 * 1024 / 4; i += blockDim.x) ((u32 *)arena)[i] = 0;
    u32 at[BATCH], rest = 0, own = base + 32 * 1024 + 4 * threadIdx.x;
    for (int u = 0; u < BATCH; ++u) at[u] = base + offsets[1024 * u + threadIdx.x];
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        const long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
            u32 got[BATCH];
#pragma unroll
            for (int u = 0; u < BATCH; ++u) {
                got[u] = update(at[u], value);
#pragma unroll
                for (int l = 0; l < LOADS; ++l) {
                    u32 v;
                    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(own + 1024 * l) : "memory");
                    rest ^= v;
                }
            }
#pragma unroll
            for (int u = 0; u < BATCH; ++u) rest ^= got[u];
        }
        // What is under way still is waited for as by the next load of the same word.
        u32 v;
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(at[BATCH - 1]) : "memory");
        rest ^= v;
        const long long stop = cycles_with(rest);
        stopwatch_add(&watch, start, stop ? stop : cycles());
        stopwatch_store(&watch, out + r);
    }
    if (rest == 0x12345678u) out[0] = rest;
}

// Each address is what the one before got back: `turns` times eight of a warp, one after another.
extern "C" __global__ void __launch_bounds__(32) chain(long long *out, const int *offsets, u32 value, int turns, int repeats) {
    __shared__ u32 sink;
    u32 at = shared_address(arena) + offsets[threadIdx.x];
    asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at), "r"(0) : "memory");
    __syncwarp();
    for (int r = 0; r < repeats; ++r) {
        const long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t)
#pragma unroll
            for (int u = 0; u < BATCH; ++u) at += update(at, value);
        const long long stop = cycles_after(at, &sink);
        if (threadIdx.x == 0) out[r] = stop - start;
    }
}
