// Warps that each load, wait and load again, and never meet (or meet in every turn): how unequal the latencies of single
// loads are, how much later the slowest of several is there, and how far warps and CTAs drift apart by it.
#include "common.cuh"

#if LANE_BYTES == 16
using Lane = uint4;
__device__ __forceinline__ u32 word(uint4 x) { return x.x ^ x.y ^ x.z ^ x.w; }
// Volatile, so that no use of one load comes before the next load.
__device__ __forceinline__ void load(uint4 &x, const uint4 *from) {
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "l"(from) : "memory");
}
#else
using Lane = u32;
__device__ __forceinline__ u32 word(u32 x) { return x; }
__device__ __forceinline__ void load(u32 &x, const u32 *from) {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
}
#endif

// out per warp: cycles from its first load to its last, and of single loads the sum and the sum of squares; SM.
// Each turn waits for STREAMS pieces, `apart` lanes from each other.
// ORDER 0: all warps read consecutive pieces in turn, 1: pieces anywhere, 2: each warp a part of its own, piece by piece.
extern "C" __global__ void __launch_bounds__(256)
walk(long long *out, const Lane *source, int turns, u64 mask, u64 apart) {
    const u64 warp = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    u32 rest = 0;
    long long sum = 0, squares = 0;
    u64 piece = ORDER == 2 ? warp * turns : warp;
    const u64 step = ORDER == 2 ? 1 : (u64)gridDim.x * (blockDim.x / 32);
    __syncthreads();
    const long long first = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t, piece += step) {
        const u64 at = ORDER == 1 ? piece * 0x9E3779B97F4A7C15ull >> 20 : piece;
        const Lane *from[STREAMS];
        Lane x[STREAMS];
#pragma unroll
        for (int s = 0; s < STREAMS; ++s) from[s] = source + ((at * 32 + lane + s * apart) & mask);
        const long long begin = cycles();
#pragma unroll
        for (int s = 0; s < STREAMS; ++s) load(x[s], from[s]);
        u32 v = 0;
#pragma unroll
        for (int s = 0; s < STREAMS; ++s) v ^= word(x[s]);
        const long long took = cycles_with(v) - begin;
        sum += took;
        squares += took * took;
        rest ^= v;
        if (MEETING) __syncthreads();
    }
    const long long now = cycles();
    if (rest == 1) out[0] = rest;
    if (lane == 0) {
        long long *mine = out + 4 * warp;
        mine[0] = now - first;
        mine[1] = sum;
        mine[2] = squares;
        mine[3] = sm_id();
    }
}
