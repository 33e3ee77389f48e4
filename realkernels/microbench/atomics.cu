// Atomic updates of global memory by all warps. TYPE 0: u32, 1: f32, 2: four f32 by one instruction; RETURNS 1: the
// old values come back. PATTERN 0: lanes side by side, through `range` bytes; 1: each lane a value anywhere in `range`
// bytes; 2: each warp one value for all its lanes, anywhere in `range` bytes; 3: a sector of 32 bytes for lanes side by side.
#include "common.cuh"

#ifndef TYPE
#define TYPE 0
#endif
#ifndef RETURNS
#define RETURNS 1
#endif
#ifndef PATTERN
#define PATTERN 0
#endif
#ifndef LOADS
#define LOADS 0
#define UPDATES 0
#endif
constexpr u32 WIDTH = TYPE == 2 ? 16 : 4, SECTOR_LANES = 32 / WIDTH;
constexpr int AT_ONCE = 4;   // under way of a warp, where it waits for them

__device__ __forceinline__ u32 anywhere(u32 x) {
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
    return x ^ x >> 16;
}

__device__ __forceinline__ u32 add(char *to) {
    u32 old = 0;
#if RETURNS && TYPE == 0
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(to) : "memory");
#elif RETURNS
    asm volatile("{.reg .f32 f; atom.global.add.f32 f, [%1], 0f3F800000; mov.b32 %0, f;}" : "=r"(old) : "l"(to) : "memory");
#elif TYPE == 0
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(to) : "memory");
#elif TYPE == 1
    asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(to) : "memory");
#else
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(to), "f"(1.f) : "memory");
#endif
    return old;
}

// out[cta]: cycles from the first warp's first update until the last warp goes on behind its last. `range` is a power of two.
extern "C" __global__ void atomics(long long *out, char *target, u64 range, int turns, u32 *sink) {
    __shared__ Stopwatch watch;
    stopwatch_reset(&watch);
    const u32 lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    const u32 values = range / WIDTH;
    u32 seen = 0;
    const long long start = cycles();
    for (int t = 0; t < turns; t += AT_ONCE) {
        u32 old[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const u32 turn = (t + i) * 0x9e3779b9u;
            u64 at;
            if (PATTERN == 0) at = ((u64)(t + i) * warps + warp) * 32 + lane & values - 1;
            else if (PATTERN == 3) at = anywhere(turn + (warp * 32 + lane) / SECTOR_LANES) * SECTOR_LANES + lane % SECTOR_LANES & values - 1;
            else at = anywhere(turn + (PATTERN == 1 ? warp * 32 + lane : warp)) & values - 1;
            old[i] = add(target + at * WIDTH);
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) seen ^= old[i];
        if (RETURNS && seen == 0x12345677) *sink = seen;
    }
    stopwatch_add(&watch, start, cycles());
    stopwatch_store(&watch, out + blockIdx.x);
}

// Each warp loads LOADS times 16 bytes a lane from DRAM, and then makes UPDATES updates side by side, through `range` bytes.
extern "C" __global__ void atomics_beside(const uint4 *source, char *target, u64 range, int turns, u32 *sink) {
    const u32 lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    u32 seen = 0;
    for (int t = 0; t < turns; ++t) {
        uint4 loaded[LOADS + 1];
#pragma unroll
        for (int i = 0; i < LOADS; ++i) loaded[i] = source[(((u64)t * LOADS + i) * warps + warp) * 32 + lane];
#pragma unroll
        for (int i = 0; i < LOADS; ++i) seen ^= loaded[i].x ^ loaded[i].y ^ loaded[i].z ^ loaded[i].w;
        if (seen == 0x12345677) *sink = seen;
#pragma unroll
        for (int i = 0; i < UPDATES; ++i) {
            const u64 at = ((((u64)t * UPDATES + i) * warps + warp) * 32 + lane) * WIDTH & range - 1;
            add(target + at);
        }
    }
}

// One thread, each update waits for the one before: out[0] cycles of `rounds`, from value to value `stride` bytes.
extern "C" __global__ void atomics_chain(long long *out, char *target, u64 range, u64 stride, int rounds) {
    u32 old = 0;
    u64 at = 0;
    long long start = 0;
    for (int round = -64; round < rounds; ++round) {
        if (round == 0) start = cycles();
        // What was there is never that, but the address waits for it.
        asm volatile("atom.global.add.u32 %0, [%1], 0;" : "=r"(old) : "l"(target + at + (old == 0x12345677)) : "memory");
        at = at + stride & range - 1;
    }
    out[0] = cycles_with(old) - start;
}
