// A ring of IN_FLIGHT groups of cp.async, 16 bytes per thread, whose issue is timed apart from its wait.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// Each warp waits for its own copies only. out: cycles of every CTA, its SM, then the mean over its warps of
// the cycles spent on issuing and on waiting, without the first IN_FLIGHT groups and without the last ones.
extern "C" __global__ void __launch_bounds__(1024)
under_way(long long *out, const unsigned char *source, int copies, int groups, u64 range) {
    __shared__ Stopwatch watch;
    __shared__ u64 spent[2];
    if (threadIdx.x == 0) spent[0] = spent[1] = 0;
    stopwatch_reset(&watch);
    const u32 stride = blockDim.x * 16, bytes = stride * copies;
    const u32 base = shared_address(arena) + threadIdx.x * 16;
    u64 offset = ((u64)blockIdx.x * bytes) & (range - 1), step = (u64)gridDim.x * bytes;
    u32 slot = 0;
    u64 issuing = 0, waiting = 0;
    long long start = cycles();
#pragma unroll 1
    for (int g = 0; g < groups; ++g) {
        const unsigned char *from = source + offset + threadIdx.x * 16;
        u32 to = base + slot * bytes;
        long long before = cycles();
#pragma unroll 4
        for (int i = 0; i < copies; ++i) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
            to += stride;
            from += stride;
        }
        long long issued = cycles();
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group %0;" ::"n"(IN_FLIGHT - 1) : "memory");
        long long after = cycles();
        if (g >= IN_FLIGHT) {
            issuing += issued - before;
            waiting += after - issued;
        }
        offset = (offset + step) & (range - 1);
        slot = slot + 1 == IN_FLIGHT ? 0 : slot + 1;
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    long long stop = cycles();
    stopwatch_add(&watch, start, stop);
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(&spent[0], issuing);
        atomicAdd(&spent[1], waiting);
    }
    stopwatch_store(&watch, out + blockIdx.x);
    if (threadIdx.x == 0) {
        out[gridDim.x + blockIdx.x] = sm_id();
        out[2 * gridDim.x + blockIdx.x] = spent[0] / (blockDim.x / 32);
        out[3 * gridDim.x + blockIdx.x] = spent[1] / (blockDim.x / 32);
    }
}
