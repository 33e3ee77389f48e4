// Each warp of a CTA loads LANE_BYTES a lane, and then all meet: when a warp has its own, and when the last one has.
// With STORING it then writes as much elsewhere.
#include "common.cuh"

#if LANE_BYTES == 16
using Lane = uint4;
#else
using Lane = u32;
#endif

// out per warp: sums over the turns, until its own data are there and until all have met; and the whole time.
extern "C" __global__ void __launch_bounds__(512)
meeting(long long *out, const Lane *source, Lane *target, int turns, u64 mask, int pause) {
    __shared__ volatile u32 flag[32];
    const int warp = threadIdx.x / 32;
    u32 rest = 0;
    u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    const u64 step = (u64)gridDim.x * blockDim.x;
    long long own = 0, met = 0;
    if (threadIdx.x < 32) flag[threadIdx.x] = 1;
    __syncthreads();
    const long long first = cycles();
    for (int t = 0; t < turns; ++t, at += step) {
        __syncthreads();
        const long long begin = cycles_with(flag[warp]);
        const Lane x = __ldcg(source + (at & mask));
#if LANE_BYTES == 16
        const u32 v = x.x ^ x.y ^ x.z ^ x.w;
#else
        const u32 v = x;
#endif
        own += cycles_with(v) - begin;
        __syncthreads();
        const long long now = cycles_with(flag[(warp + 1) % 32]);
        met += now - begin;
        rest ^= v;
        if (STORING) target[at & mask] = x;
        while (pause && cycles() < now + pause) __nanosleep(40);
    }
    if (rest == 1) out[0] = rest;
    if (threadIdx.x % 32 == 0) {
        long long *mine = out + 3 * (blockIdx.x * (blockDim.x / 32) + warp);
        mine[0] = own;
        mine[1] = met;
        mine[2] = cycles() - first;
    }
}
