// Arithmetic of two halves in a register beside arithmetic of floats and integers: which pipes they share. Two kinds in
// turn (FIRST, SECOND), four chains of each; or, with POLYNOMIAL, polynomials of two halves whose coefficients are
// halves of a register each, or two of them in one register.
#include "common.cuh"

#define HALF 0       // x = x * (one half of a, twice) + b
#define PACKED 1     // x = x * a + b, two halves each
#define ADD 2        // x = x + a
#define MULTIPLY 3   // x = x * a
#define FFMA 4
#define FADD 5
#define IMAD 6
#define IADD 7
#define STEPS 64
#define DEGREE 24

template <int KIND>
__device__ __forceinline__ void step(u32 &k, float &x, u32 i, u32 j, float a, float b) {
    if constexpr (KIND == HALF)
        asm volatile("{.reg .b16 l, h; .reg .b32 t; mov.b32 {l, h}, %1; mov.b32 t, {l, l}; fma.rn.f16x2 %0, %0, t, %2;}" : "+r"(k) : "r"(i), "r"(j));
    else if constexpr (KIND == PACKED) asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(k) : "r"(i), "r"(j));
    else if constexpr (KIND == ADD) asm volatile("add.rn.f16x2 %0, %0, %1;" : "+r"(k) : "r"(i));
    else if constexpr (KIND == MULTIPLY) asm volatile("mul.rn.f16x2 %0, %0, %1;" : "+r"(k) : "r"(i));
    else if constexpr (KIND == FFMA) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
    else if constexpr (KIND == FADD) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a));
    else if constexpr (KIND == IMAD) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(k) : "r"(i), "r"(j));
    else asm volatile("{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}" : "+r"(k) : "r"(i), "r"(j));
}

__device__ __forceinline__ void fma(u32 &h, u32 x, u32 by) {
    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(h) : "r"(x), "r"(by));
}

// One half of a register, in both of another: the assembler has the instruction pick it.
template <int WHICH>
__device__ __forceinline__ u32 twice(u32 pair) {
    u32 found;
    if constexpr (WHICH) asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {h, h};}" : "=r"(found) : "r"(pair));
    else asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {l, l};}" : "=r"(found) : "r"(pair));
    return found;
}

extern "C" __global__ void __launch_bounds__(1024)
halves(long long *out, const u32 *source, int turns, int repeats) {
    __shared__ Stopwatch watch;
    u32 k[8], i = source[threadIdx.x & 7], j = source[8 + (threadIdx.x & 7)];
    float x[8], a = source[threadIdx.x & 15], b = source[1 + (threadIdx.x & 15)];
    for (int c = 0; c < 8; ++c) k[c] = source[c] + threadIdx.x, x[c] = k[c];
#ifdef POLYNOMIAL
    u32 by[DEGREE], sum = 0;   // two coefficients each; packed: one, twice
    for (int d = 0; d < DEGREE; ++d) by[d] = source[d];
#endif
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#ifdef POLYNOMIAL
            u32 h[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) h[c] = by[0];
#pragma unroll
            for (int d = 0; d < DEGREE; ++d)
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    if constexpr (POLYNOMIAL == 1) fma(h[c], k[c], by[d]);
                    else if (d % 2) fma(h[c], k[c], twice<1>(by[d / 2]));
                    else fma(h[c], k[c], twice<0>(by[d / 2]));
                }
#pragma unroll
            for (int c = 0; c < 4; ++c) step<ADD>(sum, a, h[c], 0, 0.f, 0.f);
            k[0] ^= t, k[1] += t, k[2] ^= t, k[3] += t;
#else
#pragma unroll
            for (int s = 0; s < STEPS / 8; ++s)
#pragma unroll
                for (int c = 0; c < 8; c += 2) {
                    step<FIRST>(k[c], x[c], i, j, a, b);
                    step<SECOND>(k[c + 1], x[c + 1], i, j, a, b);
                }
#endif
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
    u32 all = 0;
    for (int c = 0; c < 8; ++c) all += k[c] + static_cast<u32>(x[c]);
#ifdef POLYNOMIAL
    all += sum;
#endif
    if (all == 12345u) out[0] = 0;
}
