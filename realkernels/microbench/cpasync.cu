// cp.async, SIZE bytes per thread (4 and 8 through L1, 16 past it), IN_FLIGHT groups outstanding.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

__device__ __forceinline__ void copy(u32 to, const unsigned char *from) {
#if SIZE == 16
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
#elif SIZE == 8
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
#endif
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__device__ __forceinline__ void wait_all() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

// Issue cost and latency of one group of 16 copies per thread, by all warps of one CTA at once.
// out[3r]: cycles to issue; out[3r + 1]: from commit to the return of wait_group 0; [3r + 2]: both.
// Warp 0 stamps; `step` moves on through memory, so that each repeat is as cold as the first.
extern "C" __global__ void __launch_bounds__(1024)
cpasync_group(long long *out, const unsigned char *source, int copies, u64 step, u64 range, int repeats) {
    u32 to = shared_address(arena) + threadIdx.x * SIZE;
    u64 offset = 0;
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        const unsigned char *from = source + offset + threadIdx.x * SIZE;
        u32 stride = blockDim.x * SIZE;
        __syncthreads();
        long long start = cycles();
        if (copies == 16) {
#pragma unroll
            for (int i = 0; i < 16; ++i) copy(to + i * stride, from + i * stride);
        } else {
            copy(to, from);
        }
        long long issued = cycles();
        commit();
        wait_all();
        long long landed = cycles();
        if (threadIdx.x == 0) {
            out[3 * r] = issued - start;
            out[3 * r + 1] = landed - issued;
            out[3 * r + 2] = landed - start;
        }
        offset = (offset + step) & (range - 1);
    }
}

// A ring of IN_FLIGHT groups of `copies` cp.async per thread. Each thread waits for its own copies
// only: no CTA barrier blurs what the copy path itself can carry. out as in tma_ring.
extern "C" __global__ void __launch_bounds__(1024)
cpasync_ring(long long *out, const unsigned char *source, int copies, int groups, u64 range) {
    __shared__ Stopwatch watch;
    stopwatch_reset(&watch);
    const u32 stride = blockDim.x * SIZE, bytes = stride * copies;
    const u32 base = shared_address(arena) + threadIdx.x * SIZE;
    u64 offset = ((u64)blockIdx.x * bytes) & (range - 1), step = (u64)gridDim.x * bytes;
    u32 slot = 0;
    long long start = cycles();
#pragma unroll 1
    for (int g = 0; g < groups; ++g) {
        const unsigned char *from = source + offset + threadIdx.x * SIZE;
        u32 to = base + slot * bytes;
#pragma unroll 4
        for (int i = 0; i < copies; ++i) {
            copy(to, from);
            to += stride;
            from += stride;
        }
        commit();
        offset = (offset + step) & (range - 1);
        slot = slot + 1 == IN_FLIGHT ? 0 : slot + 1;
#if IN_FLIGHT == 1
        asm volatile("cp.async.wait_group 0;" ::: "memory");
#elif IN_FLIGHT == 2
        asm volatile("cp.async.wait_group 1;" ::: "memory");
#else
        asm volatile("cp.async.wait_group 3;" ::: "memory");
#endif
    }
    wait_all();
    long long stop = cycles();
    stopwatch_add(&watch, start, stop);
    stopwatch_store(&watch, out + blockIdx.x);
    if (threadIdx.x == 0) out[gridDim.x + blockIdx.x] = sm_id();
}
