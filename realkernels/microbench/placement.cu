// Which hardware warp slot, and so which scheduler, each warp of several resident CTAs gets, and what
// that does to FP32 throughput. out per warp: SM, warp slot, cycles of the FFMA loop.
#include "common.cuh"

extern __shared__ unsigned char padding[];

extern "C" __global__ void __launch_bounds__(1024)
placement(long long *out, float a, float b, int turns, int settle) {
    u32 slot;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
    // All CTAs are there before the first one computes.
    spin(settle);
    __syncthreads();
    float x[4];
    for (int c = 0; c < 4; ++c) x[c] = threadIdx.x + c;
    long long start = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t)
#pragma unroll
        for (int u = 0; u < 256; ++u) x[u % 4] = fmaf(x[u % 4], a, b);
    long long stop = cycles();
    if ((threadIdx.x & 31) == 0) {
        long long *mine = out + 3 * ((long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
        mine[0] = sm_id();
        mine[1] = slot;
        mine[2] = stop - start;
    }
    if (x[0] + x[1] + x[2] + x[3] == 1234.5f) out[0] = -1;
}
