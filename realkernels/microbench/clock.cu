// SM clock under load: every CTA compares clock64 with the global timer while it spins, computes or
// loads. out per CTA: cycles, nanoseconds.
#include "common.cuh"

#define IDLE 0
#define FFMA 1
#define MEMORY 2

extern "C" __global__ void __launch_bounds__(512)
clock_load(long long *out, const uint4 *source, u64 vectors, float a, float b, int load, u64 duration) {
    float x[8];
    for (int c = 0; c < 8; ++c) x[c] = threadIdx.x + c;
    u32 rest = 0;
    const u64 step = (u64)gridDim.x * blockDim.x;
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u64 before = nanoseconds();
    long long start = cycles();
    u64 now = before;
    while (now - before < duration) {
        if (load == FFMA) {
#pragma unroll 1
            for (int t = 0; t < 64; ++t)
#pragma unroll
                for (int u = 0; u < 128; ++u) x[u % 8] = fmaf(x[u % 8], a, b);
        } else if (load == MEMORY) {
#pragma unroll 8
            for (int t = 0; t < 64; ++t) {
                uint4 v = __ldcg(source + i);
                rest ^= v.x ^ v.y ^ v.z ^ v.w;
                i = i + step < vectors ? i + step : i + step - vectors;
            }
        }
        now = nanoseconds();
    }
    long long stop = cycles();
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = stop - start;
        out[2 * blockIdx.x + 1] = (long long)(now - before);
    }
    float sum = 0;
    for (int c = 0; c < 8; ++c) sum += x[c];
    if (sum == 1234.5f && rest == 0x12345678u) out[0] = 0;
}
