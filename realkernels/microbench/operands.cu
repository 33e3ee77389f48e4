// FP32 instructions that read more or fewer different registers. Which of them meet in one bank of the register file is
// the compiler's choice, so it is counted in the SASS of each kernel. KIND, per turn and unrolled UNROLL times:
//   0 outer product of 4 x 4: each x is used four times in a row   1 one multiplicand and addend for all
//   2 another accumulator each: three registers, none of them in use before   3 FMUL   4 FADD
//   5 FADD, FMUL, FFMA in turn   6 outer product of 8 x 4
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(1024) operands(long long *out, const float *source, int turns, int repeats) {
    __shared__ Stopwatch watch;
    float x[8], y[8], sum[32];   // not all kinds use y
    for (int i = 0; i < 8; ++i) x[i] = source[threadIdx.x + i], y[i] = source[threadIdx.x + 8 + i];
    for (int i = 0; i < 32; ++i) sum[i] = source[threadIdx.x + i];
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t)
#pragma unroll
            for (int u = 0; u < UNROLL; ++u)
#pragma unroll
                for (int i = 0; i < (KIND == 6 ? 32 : 16); ++i) {
#if KIND == 0 || KIND == 6
                    sum[i] = fmaf(x[(i / 4 + u) % 8], y[(i + u) % 4], sum[i]);
#elif KIND == 1
                    sum[i] = fmaf(sum[i], x[0], y[0]);
#elif KIND == 2
                    sum[i] = fmaf(sum[(i + 5) % 16], x[i % 8], y[(i + 3) % 8]);
#elif KIND == 3
                    sum[i] *= x[i % 8];
#elif KIND == 4
                    sum[i] += x[i % 8];
#else
                    sum[i] = i < 5 ? sum[i] + x[i] : i < 11 ? sum[i] * x[i % 8] : fmaf(sum[i], y[i % 8], x[i % 8]);
#endif
                }
        float total = 0.f;
        for (int i = 0; i < 32; ++i) total += sum[i];
        long long stop = cycles();
        if (total == 1.2345f) out[0] = 0;
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
}
