// Who gets the issue slots: warps of several CTAs with the same work, one after another in age.
// CHAINS 4: two warps of a scheduler have more than it can issue, so that what one gains another loses; 1: one FFMA
// waits for the next, and four of them have; 0: one shuffle waits for the next, and there are slots for all.
// LOADS 1: each 64 FFMAs begin with a load from shared memory, as in a tile loop.
// INTEGER 1: additions and logic instead, which one pipe of half rate takes; 2: in turn with multiplications, which
// another one takes.
// HALFWAY 1: the clock is read half way, which adds a comparison and a branch to the loop and nothing else.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out per warp: SM, CTA, warp slot of the SM, first and last stamp.
extern "C" __global__ void __launch_bounds__(512)
fairness(long long *out, int turns, float a, float b, long long lead) {
    const int warp = threadIdx.x / 32;
    float4 x = make_float4(threadIdx.x, threadIdx.x + 1.f, threadIdx.x + 2.f, threadIdx.x + 3.f);
    reinterpret_cast<float4 *>(arena)[threadIdx.x] = x;
    u32 slot, at = shared_address(arena) + 16 * threadIdx.x;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
    __syncthreads();
    // All CTAs of the SM begin together: its clock is common.
    long long begin = (cycles() / lead + 2) * lead;
    while (cycles() < begin) {
    }
    long long start = cycles(), halfway = 0;
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
#if LOADS
        float4 y;
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(y.x), "=f"(y.y), "=f"(y.z), "=f"(y.w) : "r"(at));
        x.x += y.x; x.y += y.y; x.z += y.z; x.w += y.w;
#endif
#if INTEGER
        uint4 &n = reinterpret_cast<uint4 &>(x);
        const u32 m = __float_as_uint(a), k = __float_as_uint(b);
#pragma unroll
        for (int i = 0; i < 16; ++i) {
#if INTEGER == 1
            n.x = (n.x ^ m) + k, n.y = (n.y ^ m) + k, n.z = (n.z ^ m) + k, n.w = (n.w ^ m) + k;
#else
            n.x = n.x * m + k, n.y += n.x, n.z = n.z * m + k, n.w += n.z;
#endif
        }
#else
#pragma unroll
        for (int i = 0; i < 16; ++i) {
#if CHAINS == 0
            x.x = __shfl_xor_sync(~0u, x.x, 1);
#else
            x.x = fmaf(x.x, a, b);
#endif
#if CHAINS == 4
            x.y = fmaf(x.y, a, b);
            x.z = fmaf(x.z, a, b);
            x.w = fmaf(x.w, a, b);
#endif
        }
#endif
#if HALFWAY
        if (t == turns / 2) halfway = cycles();
#endif
    }
    long long stop = cycles();
    if (x.x + x.y + x.z + x.w == 12345.f) out[0] = halfway;
    if (threadIdx.x % 32 == 0) {
        long long *mine = out + 5 * (blockIdx.x * (blockDim.x / 32) + warp);
        mine[0] = sm_id();
        mine[1] = blockIdx.x;
        mine[2] = slot;
        mine[3] = start - begin;
        mine[4] = stop - begin;
    }
}
