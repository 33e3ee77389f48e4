// A bulk load and a bulk store of one CTA, asked for by different warps at about the same time: what each waits for the
// other. And what the fence costs that stands before a bulk store: it makes writes of threads visible to the copy unit.
//
// Compile-time constants (-D): LOAD, STORE (bytes of each, 0 for none); STORES (of 16 bytes per lane before each fence).
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out per CTA and turn: when the load asks and has arrived, when the store asks and its source has been read, since the
// turn began. Turns begin every `period` cycles, at another time on each SM; the store asks `delay` later, which may be
// negative. The load reads within `mask`.
extern "C" __global__ void __launch_bounds__(64)
load_and_store(long long *out, const char *source, char *target, u64 mask, int turns, long long period, int delay) {
    __shared__ __align__(8) u64 full;
    const u32 to = shared_address(arena), from = to + LOAD, barrier = shared_address(&full);
    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        barrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x % 32 != 0) return;
    long long turn = (cycles() / period + 2) * period + (sm_id() * 2654435761u) % (u32)period;
    for (int t = 0; t < turns; ++t, turn += period) {
        const u64 offset = ((u64)t * gridDim.x + blockIdx.x) * (LOAD + STORE) & mask;
        long long *mine = out + 4 * ((long long)blockIdx.x * turns + t);
        if (threadIdx.x == 0) {
            while (cycles() < turn) {
            }
            mine[0] = cycles() - turn;
#if LOAD
            barrier_expect(barrier, LOAD);
            bulk_load(to, source + offset, LOAD, barrier);
            barrier_wait(barrier, t & 1);
#endif
            mine[1] = cycles() - turn;
        } else {
            while (cycles() < turn + delay) {
            }
            mine[2] = cycles() - turn;
#if STORE
            bulk_store(target + offset, from, STORE);
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
            mine[3] = cycles() - turn;
#if STORE
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
        }
    }
}

// out: cycles of all turns; a turn writes STORES vectors per lane and then, if asked for, has the fence.
extern "C" __global__ void __launch_bounds__(1024)
proxy_fence(long long *out, int turns, int fence, int repeats) {
    __shared__ Stopwatch watch;
    const u32 to = shared_address(arena) + 16 * threadIdx.x;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        const long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#pragma unroll
            for (int i = 0; i < STORES; ++i)
                asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(to + 16 * 1024 * i), "r"(t) : "memory");
            if (fence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        }
        const long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
}
