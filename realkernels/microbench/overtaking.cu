// Copies from DRAM that all SMs ask for at the same time, and others right behind them: when each has all its data.
//
// Compile-time constants (-D): BYTES of a copy, COPIES of a CTA in each turn (1 or 2), UNIT (0: ld.global by all
// threads; 1: cp.async by all threads; 2: a bulk copy).
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];
constexpr int THREADS = 256, WARPS = THREADS / 32;
constexpr int VECTORS = BYTES / 16 / THREADS;
constexpr int STAMPS = 2 + WARPS;

__device__ __forceinline__ void ask(u32 to, const char *from, u32 full, float4 (&values)[VECTORS]) {
#if UNIT == 2
    if (threadIdx.x == 0) {
        barrier_expect(full, BYTES);
        bulk_load(to, from, BYTES, full);
    }
#else
    const u32 own = 16 * threadIdx.x;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
#if UNIT == 1
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + own + 16 * i * THREADS),
                     "l"(from + own + 16 * i * THREADS)
                     : "memory");
#else
        float4 &v = values[i];
        asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                     : "l"(from + own + 16 * i * THREADS)
                     : "memory");
#endif
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int BEHIND>   // copies of this CTA that were asked for later
__device__ __forceinline__ void wait(u32 full, u32 parity, const float4 (&values)[VECTORS], u32 *never) {
#if UNIT == 2
    barrier_wait(full, parity);
#elif UNIT == 1
    asm volatile("cp.async.wait_group %0;" ::"n"(BEHIND) : "memory");
#else
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) sum += values[i].x;
    // A store keeps the stamp behind it, and the branch needs the sum.
    if (sum == 1234.5f) *never = 1;
#endif
}

// out per CTA, copy and turn: when it is asked for and when each warp has its part, in cycles since the turn began;
// 4 * SM + seat of the CTA. `seats`: CTAs of each SM so far, `begin`: the first turn, both 0 before the launch. All SMs
// begin a turn together, `period` ns after the last one; a CTA begins `delay` cycles after the one in the seat before,
// and asks for its second copy `delay` cycles after its first.
extern "C" __global__ void __launch_bounds__(THREADS)
overtaking(long long *out, u32 *seats, u64 *begin, const char *source, u64 mask, int turns, u64 period, int delay) {
    __shared__ u32 seat;
    __shared__ __align__(8) u64 full[2];
    const u32 to = shared_address(arena), barrier = shared_address(full);
    if (threadIdx.x == 0) {
        seat = atomicAdd(&seats[sm_id()], 1);
        barrier_init(barrier, 1);
        barrier_init(barrier + 8, 1);
        barrier_init_fence();
        // Late enough that all CTAs are there.
        atomicCAS(begin, 0ull, nanoseconds() + 20000);
    }
    __syncthreads();
    const u64 first = *(volatile u64 *)begin;
    for (int t = 0; t < turns; ++t) {
        const char *from = source + (((u64)t * gridDim.x + blockIdx.x) * COPIES * BYTES & mask);
        float4 values[COPIES][VECTORS];
        long long asked[COPIES], arrived[COPIES];
        __syncthreads();
        while (nanoseconds() < first + t * period) {
        }
        const long long turn = cycles();
#pragma unroll
        for (int c = 0; c < COPIES; ++c) {
            while (cycles() < turn + (long long)(seat + c) * delay) {
            }
            asked[c] = cycles() - turn;
            ask(to + c * BYTES, from + c * BYTES, barrier + 8 * c, values[c]);
        }
        wait<COPIES - 1>(barrier, t & 1, values[0], seats);
        arrived[0] = cycles() - turn;
#if COPIES > 1
        wait<0>(barrier + 8, t & 1, values[1], seats);
        arrived[1] = cycles() - turn;
#endif
        if (threadIdx.x % 32 == 0) {
            for (int c = 0; c < COPIES; ++c) {
                long long *mine = out + STAMPS * (((long long)blockIdx.x * turns + t) * COPIES + c);
                mine[1 + threadIdx.x / 32] = arrived[c];
                if (threadIdx.x == 0) {
                    mine[0] = asked[c];
                    mine[STAMPS - 1] = 4 * sm_id() + seat;
                }
            }
        }
    }
}
