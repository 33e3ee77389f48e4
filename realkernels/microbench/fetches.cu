// Arithmetic on a pipe of half rate whose operands meet in one bank of the register file, or do not: LOP3 of three
// registers, and funnel shifts of two. Compile-time constants (-D): SHIFT (1: shifts), APART (registers from one operand
// to the next).
#include "common.cuh"

#define REGISTERS 24
#define ROUNDS 8

// out per warp: cycles of all turns.
extern "C" __global__ void __launch_bounds__(1024)
fetches(long long *out, u32 *sink, int turns, u32 seed) {
    u32 r[REGISTERS];
#pragma unroll
    for (int i = 0; i < REGISTERS; ++i) r[i] = seed * (i + 3) + threadIdx.x;
    __syncthreads();
    const long long begin = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t)
#pragma unroll
        for (int k = 0; k < ROUNDS; ++k)
#pragma unroll
            for (int i = 0; i < REGISTERS; ++i) {
                const u32 a = r[i], b = r[(i + APART) % REGISTERS], c = r[(i + 2 * APART) % REGISTERS];
                r[i] = SHIFT ? __funnelshift_l(a, b, 7) : (a & b) ^ c;
            }
    const long long end = cycles();
    u32 all = 0;
#pragma unroll
    for (int i = 0; i < REGISTERS; ++i) all ^= r[i];
    if (all == 12345u) sink[0] = all;
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = end - begin;
}
