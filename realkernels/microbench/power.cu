// SM clock while tensor cores work on many SMs: each warpgroup issues groups of four wgmma and pauses between them.
// Or, with SYNC, each warp executes mma.sync in eight chains. DATA 0: zeros, 1: random numbers of FP16 in ±[0.5, 1), 2: random TF32 in [0, 1). Defines of wgmma.cuh.
#include "common.cuh"
#include "../_harness/wgmma.cuh"

extern __shared__ __align__(128) unsigned char arena[];

constexpr int SLICES = 32;

// out per CTA: (cycles, nanoseconds) at the beginning and after each of SLICES equal parts of the turns.
extern "C" __global__ void __launch_bounds__(256)
power(long long *out, const u32 *chain, u32 steps, int turns, int pause, float x) {
    if (steps && blockIdx.x == 0) {
        // One lane goes from load to load while the other SMs work, or spin if they have no turns.
        long long *mine = out;
        if (threadIdx.x == 0) {
            u32 at = 0;
            for (u32 i = 0; i < 64; ++i) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(chain + at) : "memory");
            mine[0] = cycles();
            mine[1] = (long long)nanoseconds();
            for (u32 i = 0; i < steps; ++i) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(chain + at) : "memory");
            mine[2] = cycles_with(at);
            mine[3] = (long long)nanoseconds();
        }
        return;
    }
    u32 y = threadIdx.x * 2654435761u + blockIdx.x;
    for (u32 i = threadIdx.x; i < (64 << 10) / 4; i += blockDim.x) {
        y = y * 1664525u + 1013904223u;
#if DATA == 1
        ((u32 *)arena)[i] = (y & 0x83ff83ffu) | 0x38003800u;
#elif DATA == 2
        ((float *)arena)[i] = (y >> 8) * 0x1p-24f;
#else
        ((u32 *)arena)[i] = 0;
#endif
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
#if SYNC
    float d[8][4];
    const u32 *held = (const u32 *)arena + threadIdx.x;
    u32 a[4], b[2];
    for (int i = 0; i < 4; ++i) a[i] = held[256 * i];
    for (int i = 0; i < 2; ++i) b[i] = held[256 * (i + 4)];
    for (int i = 0; i < 32; ++i) d[i / 4][i % 4] = x;
#else
    float d[WGMMA_ACCUMULATORS];
    for (int i = 0; i < WGMMA_ACCUMULATORS; ++i) d[i] = x;
    const u32 base = shared_address(arena);
    const u64 a = wgmma_descriptor(base + 8192 * (threadIdx.x / 128), 1024, 128);
    const u64 b = wgmma_descriptor(base + 32768, 16 * WGMMA_N, 128);
#endif
    long long *mine = out + 2 * (SLICES + 1) * blockIdx.x;
#pragma unroll 1
    for (int s = 0; s <= SLICES; ++s) {
        if (threadIdx.x == 0) {
            mine[2 * s] = cycles();
            mine[2 * s + 1] = (long long)nanoseconds();
        }
        if (s == SLICES) break;
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#if SYNC
#pragma unroll
            for (int u = 0; u < 64; ++u) {
                float *e = d[u % 8];
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                    "{%0,%1,%2,%3};"
                    : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3])
                    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
            }
#else
            wgmma_fence();
#pragma unroll
            for (int u = 0; u < 4; ++u) wgmma(d, a + (2048 >> 4) * u, b + (32 * WGMMA_N >> 4) * (u % 2), 1);
            wgmma_commit();
            wgmma_wait<0>();
#endif
            if (pause) spin(pause);
        }
    }
    float sum = 0.f;
#if SYNC
    for (int i = 0; i < 32; ++i) sum += d[i / 4][i % 4];
#else
    for (int i = 0; i < WGMMA_ACCUMULATORS; ++i) sum += d[i];
#endif
    if (sum == 1234.5f) out[0] = 0;
}
