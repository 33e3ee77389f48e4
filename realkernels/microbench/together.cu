// Two CTAs of an SM load as much at once, or one a while after the other: when each has its data.
//
// Compile-time constants (-D): BYTES of a copy, TMA (1: a bulk copy; 0: cp.async by all threads).
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];
constexpr int THREADS = 256;

// out per CTA and turn: when it asks and when the copy has arrived, since the turn began; its SM and its seat there.
// SMs from `busy` on do nothing. `seats`: CTAs of each SM so far, all 0. Turns begin every `period` cycles of the SM's
// clock, which its CTAs have in common, at another time on each SM; the second CTA asks `delay` cycles later.
extern "C" __global__ void __launch_bounds__(THREADS)
together(long long *out, u32 *seats, const char *source, u64 mask, int turns, long long period, int delay, int busy) {
    __shared__ u32 seat;
    __shared__ __align__(8) u64 full;
    const u32 to = shared_address(arena), barrier = shared_address(&full);
    if (threadIdx.x == 0) {
        seat = atomicAdd(&seats[sm_id()], 1);
        barrier_init(barrier, 1);
        barrier_init_fence();
    }
    __syncthreads();
    if (sm_id() >= busy) return;
    long long turn = (cycles() / period + 8) * period + (sm_id() * 2654435761u) % (u32)period;
    for (int t = 0; t < turns; ++t, turn += period) {
        const char *from = source + (((u64)t * gridDim.x + blockIdx.x) * BYTES & mask);
        __syncthreads();
        while (cycles() < turn + (seat ? delay : 0)) {
        }
        const long long asks = cycles();
#if TMA
        if (threadIdx.x == 0) {
            barrier_expect(barrier, BYTES);
            bulk_load(to, from, BYTES, barrier);
            barrier_wait(barrier, t & 1);
        }
#else
#pragma unroll 4
        for (u32 i = 16 * threadIdx.x; i < BYTES; i += 16 * THREADS)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i), "l"(from + i) : "memory");
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
#endif
        if (threadIdx.x == 0) {
            long long *mine = out + 3 * ((long long)blockIdx.x * turns + t);
            mine[0] = asks - turn;
            mine[1] = cycles() - turn;
            mine[2] = 2 * sm_id() + seat;
        }
    }
}
