// L2 read bandwidth: all SMs read the same footprint again and again, past L1 (ld.global.cg).
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(512)
l2_read(u32 *sink, const uint4 *source, u64 vectors, int passes) {
    const u64 step = (u64)gridDim.x * blockDim.x;
    u32 rest = 0;
    for (int p = 0; p < passes; ++p) {
        // Each pass deals the footprint differently: an SM must not get the same lines every time.
        u64 cta = (blockIdx.x + 37u * p) % gridDim.x;
        u64 i = cta * blockDim.x + threadIdx.x;
        for (; i + 3 * step < vectors; i += 4 * step) {
            uint4 a = __ldcg(source + i), b = __ldcg(source + i + step);
            uint4 c = __ldcg(source + i + 2 * step), d = __ldcg(source + i + 3 * step);
            rest ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w;
            rest ^= c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
        }
        for (; i < vectors; i += step) {
            uint4 a = __ldcg(source + i);
            rest ^= a.x ^ a.y ^ a.z ^ a.w;
        }
    }
    if (rest == 0x12345678u) *sink = rest;
}
