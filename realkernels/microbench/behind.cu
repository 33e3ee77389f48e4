// How long a load from shared memory (SHUFFLE 1: a shuffle) takes while other warps store to global memory without a
// pause, so that their queue is full: warp 0 makes a chain of them, `storers` warps store until it is done.
#include "common.cuh"

// out per CTA: cycles of the chain; bytes stored, and in how many cycles.
extern "C" __global__ void __launch_bounds__(1024)
behind(long long *out, uint4 *target, u64 mask, int steps, int storers, long long lead) {
    __shared__ u32 ring[32];
    __shared__ volatile int over;
    __shared__ u64 stored;
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) ring[lane] = shared_address(ring + lane);
    if (threadIdx.x == 0) over = 0, stored = 0;
    __syncthreads();
    if (warp == 0) {
        spin(lead);   // until the queue is full
        u32 value = shared_address(ring + lane);
        long long start = cycles();
#pragma unroll 1
        for (int i = 0; i < steps; ++i) {
#if SHUFFLE
            value = __shfl_xor_sync(~0u, value, 1);
#else
            asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(value)::"memory");
#endif
        }
        __shared__ u32 sink;
        long long stop = cycles_after(value, &sink);
        if (lane == 0) {
            over = 1;
            out[3 * blockIdx.x] = stop - start;
        }
    } else if (warp <= storers) {
        const u64 step = (u64)gridDim.x * storers * 32;
        u64 at = ((u64)blockIdx.x * storers + warp - 1) * 32 + lane;
        const long long start = cycles();
        u64 mine = 0;
        while (!over) {
            target[at & mask] = make_uint4(1, 2, 3, (u32)at);
            target[(at + step) & mask] = make_uint4(1, 2, 3, (u32)at);
            at += 2 * step;
            mine += 1024;
        }
        if (warp == 1 && lane == 0) out[3 * blockIdx.x + 2] = cycles() - start;
        if (lane == 0) atomicAdd(&stored, mine);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[3 * blockIdx.x + 1] = (long long)stored;
}
