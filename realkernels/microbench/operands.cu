// FP32 and integer instructions that read more or fewer different registers. Which of them meet in one bank of the
// register file is the compiler's choice, so it is read from the SASS of each kernel. KIND, per turn and unrolled UNROLL times:
//   0 outer product of 4 x 4: each x is used four times in a row   1 one multiplicand and addend for all
//   2 another accumulator each: three registers, none of them in use before   3 FMUL   4 FADD
//   5 FADD, FMUL, FFMA in turn   6 outer product of 8 x 4   7 of 8 x 8
//   8 FFMA of registers picked at random by SEED   9 the same with FADD and FMUL   10 with integer additions and logic
#include "common.cuh"

__device__ constexpr unsigned picked(unsigned number) {
    unsigned mixed = (number + 1u) * 0x9E3779B1u + SEED * 0x85EBCA77u;
    mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6Du;
    mixed = (mixed ^ mixed >> 12) * 0x297A2D39u;
    return mixed ^ mixed >> 15;
}

#define STEPS (KIND == 7 ? 64 : KIND == 6 ? 32 : 16)
#define SUMS (KIND == 7 ? 64 : 32)

extern "C" __global__ void __launch_bounds__(512) operands(long long *out, const float *source, int turns, int repeats) {
    __shared__ Stopwatch watch;
    float x[8], y[8], sum[SUMS];   // not all kinds use y
    int whole[8];
    for (int i = 0; i < 8; ++i) x[i] = source[threadIdx.x + i], y[i] = source[threadIdx.x + 8 + i];
    for (int i = 0; i < 8; ++i) whole[i] = __float_as_int(source[threadIdx.x + 16 + i]);
    for (int i = 0; i < SUMS; ++i) sum[i] = source[threadIdx.x + i];
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t)
#pragma unroll
            for (int u = 0; u < UNROLL; ++u)
#pragma unroll
                for (int i = 0; i < STEPS; ++i) {
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
#elif KIND == 5
                    sum[i] = i < 5 ? sum[i] + x[i] : i < 11 ? sum[i] * x[i % 8] : fmaf(sum[i], y[i % 8], x[i % 8]);
#elif KIND == 7
                    sum[i] = fmaf(x[(i / 8 + u) % 8], y[i % 8], sum[i]);
#else
                    const unsigned from = picked(i + STEPS * u), kind = KIND == 8 ? 0 : from >> 16 & 3;
                    const float one = x[from & 7], other = y[from >> 3 & 7], third = sum[(i + 8 + (from >> 6 & 7)) % 16];
                    if (kind < 2) sum[i] = fmaf(one, from & 512 ? other : third, sum[i]);
                    else if (KIND == 9) sum[i] = kind == 2 ? third + one : third * other;
                    else if (kind == 2) whole[i % 8] += whole[from >> 3 & 7] + (whole[from & 7] ^ t);
                    else whole[i % 8] = (whole[(i + 3) % 8] & whole[from & 7]) | whole[from >> 3 & 7];
#endif
                }
        float total = 0.f;
        for (int i = 0; i < SUMS; ++i) total += sum[i];
        for (int i = 0; i < 8; ++i) total += __int_as_float(whole[i]);
        long long stop = cycles();
        if (total == 1.2345f) out[0] = 0;
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
}
