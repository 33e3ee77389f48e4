// How CTAs of one SM take turns: each waits for a copy (COPY 1), meets, computes, meets again, over and over.
// FMAS: dependent FFMAs on each of four values a turn. Nothing but issue slots is contended for; copies come from L2.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out per warp: SM, CTA, stamps behind the first and behind the last turn, from a common beginning.
extern "C" __global__ void __launch_bounds__(512)
turns(long long *out, const float4 *source, u32 mask, int turns, float a, float b, long long lead) {
    const u32 at = shared_address(arena) + 16 * threadIdx.x;
    float4 x = make_float4(threadIdx.x, 1.f, 2.f, 3.f);
    reinterpret_cast<float4 *>(arena)[threadIdx.x] = x;
    __syncthreads();
    // All CTAs of the SM begin together: its clock is common.
    const long long begin = (cycles() / lead + 2) * lead;
    while (cycles() < begin) {
    }
    long long start = 0;
#pragma unroll 1
    for (int t = 0; t <= turns; ++t) {
#if COPY
        const float4 *from = source + (((u32)(t * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x) & mask);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
        asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;" ::: "memory");
#endif
        __syncthreads();
        float4 y;
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(y.x), "=f"(y.y), "=f"(y.z), "=f"(y.w) : "r"(at));
#pragma unroll 1
        for (int k = 0; k < FMAS / 16; ++k)
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                y.x = fmaf(y.x, a, b);
                y.y = fmaf(y.y, a, b);
                y.z = fmaf(y.z, a, b);
                y.w = fmaf(y.w, a, b);
            }
        x.x += y.x; x.y += y.y; x.z += y.z; x.w += y.w;
        __syncthreads();
        if (t == 0) start = cycles();
    }
    const long long stop = cycles();
    if (x.x + x.y + x.z + x.w == 12345.f) out[0] = 1;
    if (threadIdx.x % 32 == 0) {
        long long *mine = out + 4 * (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
        mine[0] = sm_id();
        mine[1] = blockIdx.x;
        mine[2] = start - begin;
        mine[3] = stop - begin;
    }
}
