// Synchronisation alone: CTA and named barriers back to back, mbarrier operations, and the
// hand-over between warps over two mbarriers that every producer/consumer ring is made of.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(1024) cta_sync(long long *out, int turns, int repeats) {
    __shared__ Stopwatch watch;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t)
#pragma unroll
            for (int u = 0; u < 16; ++u) __syncthreads();
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
}

// Only the first `members` threads take part; the others wait at the CTA barrier at the end.
extern "C" __global__ void __launch_bounds__(1024) named_sync(long long *out, int members, int turns, int repeats) {
    __shared__ Stopwatch watch;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        if (threadIdx.x < members) {
            long long start = cycles();
#pragma unroll 1
            for (int t = 0; t < turns; ++t)
#pragma unroll
                for (int u = 0; u < 16; ++u) asm volatile("bar.sync 1, %0;" ::"r"(members) : "memory");
            long long stop = cycles();
            stopwatch_add(&watch, start, stop);
        }
        stopwatch_store(&watch, out + r);
    }
}

// All but warp 0 wait for it, which works before each barrier: what they cost although they came long before.
extern "C" __global__ void __launch_bounds__(1024) late_warp(long long *out, int work, int turns, int repeats) {
    __shared__ Stopwatch watch;
    const int mine = threadIdx.x < 32 ? work : 0;
    float x = threadIdx.x;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#pragma unroll 1
            for (int i = 0; i < mine; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
            __syncthreads();
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
    if (x == 1234.5f) out[0] = 1;
}

#define ARRIVE 0
#define ARRIVE_ALL_LANES 1
#define EXPECT_TX 2
#define WAIT_DONE 3
#define WAIT_DONE_ALL_LANES 4

// One operation back to back by one warp. The count is too large for the phase to complete, except
// for the waits, which look at parity 1 of a fresh barrier: complete by definition.
extern "C" __global__ void mbarrier_op(long long *out, int op, int repeats) {
    __shared__ __align__(8) u64 storage;
    u32 barrier = shared_address(&storage);
    bool first = threadIdx.x == 0;
    for (int r = 0; r < repeats; ++r) {
        __syncthreads();
        if (first) {
            barrier_init(barrier, 1u << 19);
            barrier_init_fence();
        }
        __syncthreads();
        long long start = 0, stop = 0;
        if (op == ARRIVE && first) {
            start = cycles();
#pragma unroll 16
            for (int t = 0; t < 256; ++t) barrier_arrive(barrier);
            stop = cycles();
        }
        if (op == ARRIVE_ALL_LANES) {
            start = cycles();
#pragma unroll 16
            for (int t = 0; t < 256; ++t) barrier_arrive(barrier);
            stop = cycles();
        }
        if (op == EXPECT_TX && first) {
            start = cycles();
#pragma unroll 16
            for (int t = 0; t < 256; ++t) barrier_expect(barrier, 16);
            stop = cycles();
        }
        if (op == WAIT_DONE && first) {
            start = cycles();
#pragma unroll 16
            for (int t = 0; t < 256; ++t) barrier_wait(barrier, 1);
            stop = cycles();
        }
        if (op == WAIT_DONE_ALL_LANES) {
            start = cycles();
#pragma unroll 16
            for (int t = 0; t < 256; ++t) barrier_wait(barrier, 1);
            stop = cycles();
        }
        __syncthreads();
        if (first) {
            barrier_invalidate(barrier);
            out[r] = stop - start;
        }
    }
}

#define PRODUCER_LANE 1       // the producer is one thread, not a whole warp
#define CONSUMER_LANE_WAITS 2 // lane 0 waits, the others follow through __syncwarp
#define ALL_ARRIVE 4          // every consumer thread arrives, not one lane per warp

// Warp 0 hands over to `blockDim.x / 32 - 1` consumer warps and back: one full round trip per turn.
extern "C" __global__ void __launch_bounds__(1024) ping_pong(long long *out, int mode, int turns, int repeats) {
    __shared__ __align__(8) u64 storage[2];
    __shared__ Stopwatch watch;
    u32 full = shared_address(&storage[0]), empty = shared_address(&storage[1]);
    int warp = threadIdx.x / 32, lane = threadIdx.x & 31, consumers = blockDim.x / 32 - 1;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        if (threadIdx.x == 0) {
            barrier_init(full, 1);
            barrier_init(empty, mode & ALL_ARRIVE ? consumers * 32 : consumers);
            barrier_init_fence();
        }
        __syncthreads();
        if (warp == 0) {
            if (lane == 0 || !(mode & PRODUCER_LANE)) {
                long long start = cycles();
#pragma unroll 1
                for (int t = 0; t < turns; ++t) {
                    if (lane == 0) barrier_arrive(full);
                    barrier_wait(empty, t & 1);
                    // Lane 0 must not open the next phase while another lane still looks at this one.
                    if (!(mode & PRODUCER_LANE)) __syncwarp();
                }
                long long stop = cycles();
                stopwatch_add(&watch, start, stop);
            }
        } else {
#pragma unroll 1
            for (int t = 0; t < turns; ++t) {
                if (lane == 0 || !(mode & CONSUMER_LANE_WAITS)) barrier_wait(full, t & 1);
                __syncwarp();
                if (lane == 0 || (mode & ALL_ARRIVE)) barrier_arrive(empty);
            }
        }
        stopwatch_store(&watch, out + r);
        __syncthreads();
        if (threadIdx.x == 0) {
            barrier_invalidate(full);
            barrier_invalidate(empty);
        }
    }
}
