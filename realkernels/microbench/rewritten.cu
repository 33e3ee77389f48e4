// Lines that every warp reads again and again, past L1, and with WRITE writes as well: what of them L2 keeps.
#include "common.cuh"

constexpr int AT_ONCE = 4;   // lines under way per warp

// `lines` of a warp lie behind each other, a word of each per lane; they are gone through `turns` times.
extern "C" __global__ void __launch_bounds__(512)
rewrite(u32 *sink, u32 *array, int lines, int turns) {
    const u64 warp = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    u32 *own = array + warp * lines * 32 + threadIdx.x % 32, rest = 0;
    for (int t = 0; t < turns; ++t) {
#pragma unroll 1
        for (int line = 0; line < lines; line += AT_ONCE) {
            u32 x[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) x[i] = __ldcg(own + 32 * (line + i));
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                if (WRITE) __stcg(own + 32 * (line + i), x[i] + 1);
                else rest ^= x[i];
            }
        }
    }
    if (rest == 0x12345678u) *sink = rest;
}
