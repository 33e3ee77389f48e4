// Do loads from shared memory and what else goes through L1 take turns? READERS warps load from shared memory without
// a pause, the others move data: BESIDE 0 nothing, 1 ld.global, 2 cp.async, 3 bulk copies, 4 st.global.
// WORDS: width of the shared loads in 32-bit words. Everything else is 16 bytes per lane and stays in L2.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

#define RING (32 << 10)
#define BATCH 4

// Eight loads; `at` moves between two places, or the assembler would lift them out of the loop.
__device__ __forceinline__ u32 read_shared(u32 at) {
    u32 rest = 0;
#pragma unroll
    for (int u = 0; u < 8; ++u) {
#if WORDS == 1
        u32 a;
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(at + u * 4096) : "memory");
        rest ^= a;
#else
        u32 a, b, c, d;
        asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(at + u * 4096)
                     : "memory");
        rest ^= a ^ b ^ c ^ d;
#endif
    }
    return rest;
}

// out per warp: loads from shared memory, or bytes moved; cycles.
extern "C" __global__ void __launch_bounds__(1024)
pipes(u64 *out, const uint4 *source, uint4 *target, u64 mask, int readers, long long window) {
    __shared__ u64 barriers[32];
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const u32 barrier = shared_address(barriers + warp);
    if (lane == 0) {
        barrier_init(barrier, 1);
        barrier_init_fence();
    }
    __syncthreads();
    const long long start = cycles(), end = start + window;
    u64 done = 0;
    u32 rest = 0;
    if (warp < readers) {
        u32 at = shared_address(arena) + 512 * (warp % 7) + 4 * WORDS * lane;
        while (cycles() < end) {
            rest ^= read_shared(at);
            at ^= 512;
            done += 8;
        }
    } else {
        const u32 mover = warp - readers, movers = blockDim.x / 32 - readers;
        const u64 step = (u64)gridDim.x * movers * 32;
        const u32 ring = shared_address(arena) + RING + mover * BATCH * 512;
        u64 at = ((u64)blockIdx.x * movers + mover) * 32 + lane;
        u32 parity = 0;
        while (cycles() < end) {
#if BESIDE == 1
            uint4 v[BATCH];
#pragma unroll
            for (int u = 0; u < BATCH; ++u, at += step) v[u] = __ldcg(source + (at & mask));
#pragma unroll
            for (int u = 0; u < BATCH; ++u) rest ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
#elif BESIDE == 2
#pragma unroll
            for (int u = 0; u < BATCH; ++u, at += step)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(ring + u * 512 + lane * 16),
                             "l"(source + (at & mask))
                             : "memory");
            asm volatile("cp.async.commit_group;\n cp.async.wait_group 1;" ::: "memory");
#elif BESIDE == 3
            if (lane == 0) {
                barrier_expect(barrier, BATCH * 512);
                bulk_load(ring, source + (at & mask & ~(BATCH * 32ull - 1)), BATCH * 512, barrier);
            }
            at += BATCH * step;
            barrier_wait(barrier, parity);
            parity ^= 1;
#elif BESIDE == 4
#pragma unroll
            for (int u = 0; u < BATCH; ++u, at += step) target[at & mask] = make_uint4(1, 2, 3, lane);
#endif
            done += BATCH * 512;
        }
#if BESIDE == 2
        asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    }
    const long long stop = cycles();
    if (lane == 0) {
        u64 *mine = out + 2 * (blockIdx.x * (blockDim.x / 32) + warp);
        mine[0] = done + (rest == 0x12345678u);
        mine[1] = stop - start;
    }
}
