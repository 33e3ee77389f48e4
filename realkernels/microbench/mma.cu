// Tensor cores by mma.sync: each warp executes BODY m16n8k16 products of f16 a turn, CHAINS of them independent; with
// FFMAS of them behind each other one.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(1024)
mma_rate(long long *out, int turns, float x, float y) {
    __shared__ Stopwatch watch;
    float d[CHAINS][4], z[8];
    u32 a[4], b[2];
    for (int c = 0; c < CHAINS; ++c)
        for (int i = 0; i < 4; ++i) d[c][i] = 0.f;
    for (int c = 0; c < 8; ++c) z[c] = threadIdx.x + c;
    for (int i = 0; i < 4; ++i) a[i] = 0x38003800u + threadIdx.x * (i + 1);
    for (int i = 0; i < 2; ++i) b[i] = 0x38003800u + threadIdx.x * (i + 3);
    stopwatch_reset(&watch);
    const long long start = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
#pragma unroll
        for (int u = 0; u < BODY; ++u) {
            float *e = d[u % CHAINS];
            asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#pragma unroll
            for (int f = 0; f < FFMAS; ++f) z[(u * FFMAS + f) % 8] = fmaf(z[(u * FFMAS + f) % 8], x, y);
        }
    }
    const long long stop = cycles();
    stopwatch_add(&watch, start, stop);
    stopwatch_store(&watch, out + blockIdx.x);
    float sum = 0.f;
    for (int c = 0; c < CHAINS; ++c)
        for (int i = 0; i < 4; ++i) sum += d[c][i];
    for (int c = 0; c < 8; ++c) sum += z[c];
    if (sum == 1234.5f) out[0] = 0;
}
