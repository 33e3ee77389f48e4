// What random reads find in L2: each group of LANES lanes reads 16 bytes per lane at a place of its own.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(512)
random_reads(u32 *sink, const uint4 *source, u64 places, int turns) {
    const u64 group = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    u64 x = group * 0x9E3779B97F4A7C15ull + 12345;
    u32 rest = 0;
    for (int t = 0; t < turns; ++t) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        const u64 place = (x * 0x2545F4914F6CDD1Dull >> 20) % places;
        uint4 v = __ldcg(source + place * LANES + threadIdx.x % LANES);
        rest ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (rest == 0x12345678u) *sink = rest;
}
