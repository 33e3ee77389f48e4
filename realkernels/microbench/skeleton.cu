// What a tile pipeline costs besides its copies and its arithmetic: one turn of the loop around the
// tile, with the barriers always open or with copies of 16 bytes that are always in L2.
#include "common.cuh"

#define LOOP 0
#define WAIT 1
#define WAIT_ARRIVE 2

extern __shared__ __align__(128) unsigned char arena[];

// Consumer's turn, one warp per scheduler at most: stage and parity bookkeeping, the stage's address, and
// (MODE) the wait on a barrier that is complete and the arrival of one lane.
extern "C" __global__ void __launch_bounds__(128)
consumer_turn(long long *out, int turns, int stages, u32 bytes, int repeats) {
    __shared__ __align__(8) u64 storage[32];
    __shared__ Stopwatch watch;
    u32 barrier = shared_address(storage), base = shared_address(arena);
    if (threadIdx.x == 0) {
        for (int s = 0; s < 32; ++s) barrier_init(barrier + 8 * s, 1u << 19);
        barrier_init_fence();
    }
    u32 seen = 0;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        int stage = 0;
        u32 parity = 0;
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
            // Parity 1 of a fresh barrier is complete; the flips of a real ring are kept beside it.
#if MODE >= WAIT
            barrier_wait(barrier + 8 * stage, parity | 1);
#endif
            u32 tile = base + stage * bytes + threadIdx.x * 16;
            asm volatile("" ::"r"(tile), "r"(parity));
#if MODE >= WAIT_ARRIVE
            __syncwarp();
            if ((threadIdx.x & 31) == 0) barrier_arrive(barrier + 8 * (16 + stage));
#endif
            if (++stage == stages) {
                stage = 0;
                parity ^= 1;
            }
        }
        long long stop = cycles();
        seen += parity;
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
    if (seen == 123456789u) out[0] = 0;
}

// Hand-over between one producing lane and the consumer warps; the payload is `bytes`, or none at all. The producer's other lanes have
// returned: lanes that wait for it at a later barrier would take turns with it. The clock is that of one warp.
extern "C" __global__ void __launch_bounds__(1024)
hand_over(long long *out, const unsigned char *source, int turns, int stages, int bytes) {
    __shared__ __align__(8) u64 storage[32];
    const u32 full = shared_address(storage), empty = full + 8 * 16, to = shared_address(arena);
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; ++s) {
            barrier_init(full + 8 * s, 1);
            barrier_init(empty + 8 * s, blockDim.x / 32 - 1);
        }
        barrier_init_fence();
    }
    __syncthreads();
    int stage = 0;
    u32 parity = 0;
    if (threadIdx.x < 32) {
        if (threadIdx.x > 0) return;
        const unsigned char *from = source + blockIdx.x * 4096;
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
            barrier_wait(empty + 8 * stage, parity ^ 1);
            if (bytes) {
                barrier_expect(full + 8 * stage, bytes);
                bulk_load(to + bytes * stage, from, bytes, full + 8 * stage);
            } else {
                barrier_arrive(full + 8 * stage);
            }
            if (++stage == stages) {
                stage = 0;
                parity ^= 1;
            }
        }
        return;
    }
    long long start = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
        barrier_wait(full + 8 * stage, parity);
        __syncwarp();
        if ((threadIdx.x & 31) == 0) barrier_arrive(empty + 8 * stage);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
    long long stop = cycles();
    if (blockIdx.x == 0 && threadIdx.x == 32) out[0] = stop - start;
}

// One turn of a cp.async pipeline: a copy per thread, commit, wait for the oldest group, barrier.
extern "C" __global__ void __launch_bounds__(1024)
group_turn(long long *out, const unsigned char *source, int turns, int repeats) {
    __shared__ Stopwatch watch;
    u32 to = shared_address(arena) + threadIdx.x * 16;
    const unsigned char *from = source + threadIdx.x * 16;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
        int stage = 0;
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
            __syncthreads();
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + stage * blockDim.x * 16), "l"(from)
                         : "memory");
            asm volatile("cp.async.commit_group;" ::: "memory");
            if (++stage == STAGES) stage = 0;
        }
        long long stop = cycles();
        asm volatile("cp.async.wait_all;" ::: "memory");
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
}
