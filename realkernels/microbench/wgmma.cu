// Tensor cores by wgmma: each warpgroup issues TURNS groups of PER_GROUP and waits until PENDING are under way.
// A_SHARED: both operands in shared memory, else the first one in registers. BESIDE: further warpgroups load from
// shared memory (1) or execute FFMAs (2), integer arithmetic (3) or exponentials (4) of eight chains without a pause,
// or one thread keeps bulk copies under way, of 64 KiB (5) or so small that it always issues (6).
// TELL: how long issuing takes, which slows it down. Defines of wgmma.cuh.
#include "common.cuh"
#include "../_harness/wgmma.cuh"

constexpr int TILE = BESIDE == 6 ? 4 << 10 : 64 << 10, STAGES = BESIDE == 6 ? 8 : 2;   // of the copies beside
constexpr int BODY = 512;   // of the warps beside, between two looks at whether the others have ended

extern __shared__ __align__(128) unsigned char arena[];

// Operands of FP16 numbers in ±[0.5, 1), or zeros: power and so the clock depend on the data.
__device__ __forceinline__ void fill(u32 random) {
    u32 x = threadIdx.x * 2654435761u + blockIdx.x;
    for (u32 i = threadIdx.x; i < (64 << 10) / 4; i += blockDim.x) {
        x = x * 1664525u + 1013904223u;
        ((u32 *)arena)[i] = random ? (x & 0x83ff83ffu) | 0x38003800u : 0;
    }
}

// out: per warp start, stop, nanoseconds from start to stop; cycles until all wgmma of its turns were issued (TELL), or what
// the warps beside have executed.
constexpr int UNROLLED = A_SHARED || WGMMA_N < 256 ? 16 : 1;   // of the widest there are no registers for that

extern "C" __global__ void __launch_bounds__(384)
wgmma_rate(long long *out, const uint4 *source, int warpgroups, int turns, int random, float x, float y) {
    const u32 warp = threadIdx.x / 32, group = warp / 4;
    long long *mine = out + 4 * (blockIdx.x * (blockDim.x / 32) + warp);
    __shared__ volatile u32 ended;
    __shared__ u64 barriers[STAGES];
    if (threadIdx.x == 0) {
        ended = 0;
        for (int s = 0; s < STAGES; ++s) barrier_init(shared_address(barriers + s), 1);
        barrier_init_fence();
    }
    fill(random);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const u64 before = nanoseconds();
    const long long start = cycles();
    long long done = 0;
    if (group < warpgroups) {
        float d[WGMMA_ACCUMULATORS];
        for (int i = 0; i < WGMMA_ACCUMULATORS; ++i) d[i] = x;
        const u32 base = shared_address(arena);
        const u64 a = wgmma_descriptor(base + 8192 * (group % 4), 1024, 128);
        const u64 b = wgmma_descriptor(base + 32768, 16 * WGMMA_N, 128);
#if !A_SHARED
        const u32 held[4] = {warp, warp + 1, warp + 2, warp + 3};
#endif
        // Turns in a row without a branch: in each turn of a loop the compiler computes the descriptors again.
#pragma unroll UNROLLED
        for (int t = 0; t < turns; ++t) {
#if TELL
            const long long turn = cycles();
#endif
            wgmma_fence();
#pragma unroll
            for (int u = 0; u < PER_GROUP; ++u) {
#if A_SHARED
                wgmma(d, a + (2048 >> 4) * (u % 4), b + (2 * 16 * WGMMA_N >> 4) * (u % 2), 1);
#else
                wgmma(d, held, b + (2 * 16 * WGMMA_N >> 4) * (u % 2), 1);
#endif
            }
            wgmma_commit();
#if TELL
            done += cycles() - turn;
#endif
            wgmma_wait<PENDING>();
        }
        wgmma_wait<0>();
        float sum = 0.f;
        for (int i = 0; i < WGMMA_ACCUMULATORS; ++i) sum += d[i];
        if (sum == 1234.5f) ended = 2;
        if (threadIdx.x % 32 == 0) ended = 1;
    }
    const long long own = cycles();
#if BESIDE >= 5
    if (threadIdx.x == 128 * warpgroups) {
        const u32 ring = shared_address(arena) + (64 << 10);
        int t = 0;
        for (; warpgroups ? !ended : t < turns; ++t) {
            const u32 barrier = shared_address(barriers + t % STAGES);
            if (t >= STAGES) barrier_wait(barrier, (t / STAGES - 1) & 1);
            barrier_expect(barrier, TILE);
            bulk_load(ring + t % STAGES * TILE, source + t % 16 * (TILE / 16), TILE, barrier);
        }
        done = (long long)t * (TILE / 128);
        for (int s = t < STAGES ? 0 : t - STAGES; s < t; ++s)
            barrier_wait(shared_address(barriers + s % STAGES), (s / STAGES) & 1);
    }
#else
    if (group >= warpgroups) {
        // Until the others have ended, or of a turn each if there are none.
        const u32 at = shared_address(arena) + 16 * threadIdx.x % 16384;
        float z[8];
        u32 k[8], rest = 0;
        for (int c = 0; c < 8; ++c) z[c] = threadIdx.x + c, k[c] = threadIdx.x * (c + 3);
        while (warpgroups ? !ended : done < (long long)turns * BODY) {
#pragma unroll
            for (int u = 0; u < BODY; ++u) {
                const int c = u % 8;
#if BESIDE == 1
                u32 v[4];
                asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                             : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at + u % 32 * 512) : "memory");
                rest ^= v[0] ^ v[1] ^ v[2] ^ v[3];
#elif BESIDE == 2
                z[c] = fmaf(z[c], x, y);
#elif BESIDE == 3
                k[c] = k[c] * 3 + (k[c] ^ turns);
#elif BESIDE == 4
                asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(z[c]));
#endif
            }
            done += BODY;
        }
        float sum = rest;
        for (int c = 0; c < 8; ++c) sum += z[c] + k[c];
        if (sum == 1234.5f) ended = 3;
    }
#endif
    const long long stop = group < warpgroups ? own : cycles();
    if (threadIdx.x % 32 == 0) {
        mine[0] = start;
        mine[1] = stop;
        mine[2] = (long long)(nanoseconds() - before);
        mine[3] = done;
    }
}
