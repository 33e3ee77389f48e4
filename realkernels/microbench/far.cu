// Random sectors that L2 has: each pair of lanes reads 32 bytes at a place of its own, four of them at a time.
#include "common.cuh"

constexpr int LOADS = 4;

// out per CTA: cycles.
extern "C" __global__ void __launch_bounds__(512)
far_sectors(long long *out, const uint4 *source, u64 places, int turns) {
    const u64 pair = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 2;
    u64 x = (pair * 0x9E3779B97F4A7C15ull + 12345) * 0xBF58476D1CE4E5B9ull;
    u32 rest = 0;
    const long long start = cycles();
    for (int t = 0; t < turns; ++t) {
        uint4 v[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            x = x * 6364136223846793005ull + 1442695040888963407ull;
            v[i] = __ldcg(source + 2 * __umul64hi(x, places) + threadIdx.x % 2);
        }
#pragma unroll
        for (int i = 0; i < LOADS; ++i) rest ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
    }
    const long long stop = cycles();
    if (threadIdx.x == 0) out[blockIdx.x] = rest == 0x12345678u ? 0 : stop - start;
}
