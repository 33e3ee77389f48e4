// When equal CTAs end, and which SMs take those that are left for the last wave: CTAs that meet, compute and meet again,
// over and over. LOAD 1: each thread fetches 16 bytes from DRAM for the next turn before it computes; 2: it waits for
// them before it computes. FMAS: dependent FFMAs on each of four values a turn, or of 4 * VECTORS;
// VECTORS 0: a load from shared memory for each four of FMAS instead, four at a time.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out per CTA: SM, and nanoseconds at its first and its last instruction.
extern "C" __global__ void __launch_bounds__(512)
last_wave(long long *out, const float4 *source, u64 mask, int turns, float a, float b) {
    const u64 start = nanoseconds();
    const u32 at = shared_address(arena) + 16 * threadIdx.x;
    const u64 step = (u64)gridDim.x * blockDim.x;
    u64 from = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    float4 x = make_float4(threadIdx.x, 1.f, 2.f, 3.f), y = x;
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
#if LOAD == 2
        y = source[(from += step) & mask];
#endif
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(at), "f"(y.x), "f"(y.y), "f"(y.z), "f"(y.w) : "memory");
        __syncthreads();
        float4 z[VECTORS ? VECTORS : 4];
#if LOAD == 1
        y = source[(from += step) & mask];
#endif
#if VECTORS == 0
#pragma unroll 1
        for (int k = 0; k < FMAS / 16; ++k) {
#pragma unroll
            for (int v = 0; v < 4; ++v)
                asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                             : "=f"(z[v].x), "=f"(z[v].y), "=f"(z[v].z), "=f"(z[v].w)
                             : "r"(at)
                             : "memory");
#pragma unroll
            for (int v = 0; v < 4; ++v) x.x += z[v].x, x.y += z[v].y, x.z += z[v].z, x.w += z[v].w;
        }
#endif
#pragma unroll
        for (int v = 0; v < VECTORS; ++v)
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(z[v].x), "=f"(z[v].y), "=f"(z[v].z), "=f"(z[v].w)
                         : "r"(at + 16 * blockDim.x * v)
                         : "memory");
#if VECTORS
#pragma unroll 1
        for (int k = 0; k < FMAS / 16; ++k)
#pragma unroll
            for (int i = 0; i < 16; ++i)
#pragma unroll
                for (int v = 0; v < VECTORS; ++v) {
                    z[v].x = fmaf(z[v].x, a, b);
                    z[v].y = fmaf(z[v].y, a, b);
                    z[v].z = fmaf(z[v].z, a, b);
                    z[v].w = fmaf(z[v].w, a, b);
                }
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) x.x += z[v].x, x.y += z[v].y, x.z += z[v].z, x.w += z[v].w;
#endif
        __syncthreads();
    }
    if (x.x + x.y + x.z + x.w == 12345.f) out[0] = 1;
    if (threadIdx.x == 0) {
        out[3 * blockIdx.x] = sm_id();
        out[3 * blockIdx.x + 1] = (long long)start;
        out[3 * blockIdx.x + 2] = (long long)nanoseconds();
    }
}
