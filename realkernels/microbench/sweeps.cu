// Sweeps over an array that begin again at its start, L2 empty before the first: how long each takes.
//
// Compile-time constants (-D): LOADS in flight per thread, of 8 bytes.
#include "common.cuh"

// out per CTA and sweep: cycles since the CTA began. `size` bytes are read in `turns` turns, or a little more.
extern "C" __global__ void __launch_bounds__(1024)
sweeps(long long *out, const char *source, u32 size, int sweeps, int turns) {
    const u32 step = 8 * gridDim.x * blockDim.x;
    u32 at = 8 * (blockIdx.x * blockDim.x + threadIdx.x), rest = 0;
    const long long begin = cycles();
    for (int s = 0; s < sweeps; ++s) {
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
            uint2 x[LOADS];
#pragma unroll
            for (int i = 0; i < LOADS; ++i) {
                x[i] = __ldcg((const uint2 *)(source + at));
                at += step;
                if (at >= size) at -= size;
            }
#pragma unroll
            for (int i = 0; i < LOADS; ++i) rest ^= x[i].x ^ x[i].y;
        }
        if (threadIdx.x == 0) out[(long long)blockIdx.x * sweeps + s] = cycles() - begin;
    }
    if (rest == 0x12345678u) out[0] = 1;
}
