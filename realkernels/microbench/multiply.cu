// Upper halves and all 64 bits of products of 32-bit integers, alone and beside FP32: how long they keep their pipe busy.
//
// Compile-time constants (-D): OP, BESIDE (FFMAs behind each).
#include "common.cuh"

#define LOW 0    // mad.lo
#define HIGH 1   // mul.hi
#define WIDE 2   // mul.wide, and the exclusive or of both halves

constexpr int CHAINS = 4, STEPS = 16;

extern "C" __global__ void __launch_bounds__(1024)
multiply(long long *out, const u32 *source, int turns, int repeats) {
    __shared__ Stopwatch watch;
    u32 k[CHAINS], by = source[threadIdx.x & 7] | 1;
    float x[4], a = source[8 + (threadIdx.x & 7)], b = source[16 + (threadIdx.x & 7)];
    for (int c = 0; c < CHAINS; ++c) k[c] = source[c] + threadIdx.x, x[c] = k[c];
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        const long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#pragma unroll
            for (int s = 0; s < STEPS; ++s)
#pragma unroll
                for (int c = 0; c < CHAINS; ++c) {
#if OP == LOW
                    asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(k[c]) : "r"(by));
#elif OP == HIGH
                    asm volatile("mul.hi.u32 %0, %0, %1;" : "+r"(k[c]) : "r"(by));
#else
                    asm volatile("{.reg .b64 p; .reg .b32 l, h; mul.wide.u32 p, %0, %1; mov.b64 {l, h}, p; xor.b32 %0, l, h;}" : "+r"(k[c]) : "r"(by));
#endif
#pragma unroll
                    for (int f = 0; f < BESIDE; ++f)
                        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[(c + f) % 4]) : "f"(a), "f"(b));
                }
        }
        const long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
    u32 rest = 0;
    for (int c = 0; c < CHAINS; ++c) rest ^= k[c] ^ __float_as_int(x[c]);
    if (rest == 0x12345678u) out[0] = rest;
}
