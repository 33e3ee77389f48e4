// Reads of all SMs with few writes among them, or writes with few reads: what is left of device memory's bandwidth.
//
// Compile-time constants (-D): MANY_READS (or many writes).
#include "common.cuh"

constexpr int AT_ONCE = 4;   // vectors of a turn

// CTAs that stay: of every `each` turns one has a vector of the few; 0: none has.
extern "C" __global__ void __launch_bounds__(512)
staying(uint4 *sink, const uint4 *source, uint4 *target, u32 turns, u32 each) {
    const u64 step = (u64)gridDim.x * blockDim.x, first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const uint4 *from = source + first;
    uint4 *to = target + first;
    u32 rest = 0, left = each;
    for (u32 t = 0; t < turns; ++t) {
        const bool few = left == 1;
        left = few ? each : left - 1;
        uint4 x[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (MANY_READS || (i == 0 && few)) x[i] = __ldcg(from), from += step;
            else x[i] = make_uint4(t, rest, i, t);
        rest ^= x[0].x ^ x[1].y ^ x[2].z ^ x[3].w;
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (!MANY_READS || (i == 0 && few)) *to = x[i], to += step;
    }
    if (rest == 0x12345678u) sink->x = rest;
}

// CTAs that come and go: each has its own piece of the many, and of every `each` threads one has a vector of the few.
extern "C" __global__ void __launch_bounds__(256)
passing(uint4 *sink, const uint4 *source, uint4 *target, u32, u32 each) {
    const u64 piece = (u64)blockIdx.x * blockDim.x * AT_ONCE + threadIdx.x;
    const u32 few = each ? blockDim.x / each : 0;
    const u64 part = (u64)blockIdx.x * few + threadIdx.x;
    uint4 x[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
        if (MANY_READS) x[i] = __ldcg(source + piece + i * blockDim.x);
        else x[i] = i == 0 && threadIdx.x < few ? __ldcg(source + part) : make_uint4(piece, i, piece, i);
    }
    const u32 rest = x[0].x ^ x[1].y ^ x[2].z ^ x[3].w;
    if (MANY_READS) {
        if (threadIdx.x < few) target[part] = x[0];
    } else {
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) target[piece + i * blockDim.x] = x[i];
    }
    if (rest == 0x12345678u) sink->x = rest;
}
