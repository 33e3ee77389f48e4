// Issue rate of one instruction kind: LANES independent chains, BODY instructions per loop turn.
//
// No memory access in the loop, so only the issue slot, the dependent-issue latency (few chains)
// and instruction fetch (long bodies) are left. OP names the instruction; XAB is the x = x*a + b
// of the project's own kernels, the other FFMA forms differ only in register reads.
#include "common.cuh"

#define XAB 0   // x = x*a + b
#define XAX 1   // x = x*a + x, two source registers
#define ACC 2   // x = a*b + x, the accumulation of a matrix product
#define IADD 3
#define LOP 4
#define IMAD 5
#define FADD 6
#define MUFU 7
#define MIX11 8   // FFMA and IADD3, one each
#define MIX31 9   // three FFMA to one IADD3

#define TURNS (BODY / ILP)

// Each operation is volatile assembly: the optimiser may neither fold a chain nor merge two.
__device__ __forceinline__ void ffma_xab(float &x, float a, float b) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
}
__device__ __forceinline__ void iadd(int &k, int i, int j) {
    // Three inputs make one IADD3; the compiler cannot turn it into an IMAD on the FMA pipe.
    asm volatile("{.reg .s32 t; add.s32 t, %0, %1; add.s32 %0, t, %2;}" : "+r"(k) : "r"(i), "r"(j));
}

extern "C" __global__ void __launch_bounds__(1024)
issue(long long *out, float a, float b, int i, int j, int turns, int repeats) {
    __shared__ Stopwatch watch;
    float x[ILP];
    int k[ILP];
    for (int c = 0; c < ILP; ++c) {
        x[c] = threadIdx.x * 1e-6f + c * a;
        k[c] = threadIdx.x + c * i;
    }
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#pragma unroll
            for (int u = 0; u < TURNS; ++u) {
#pragma unroll
                for (int c = 0; c < ILP; ++c) {
#if OP == XAB
                    ffma_xab(x[c], a, b);
#elif OP == XAX
                    asm volatile("fma.rn.f32 %0, %0, %1, %0;" : "+f"(x[c]) : "f"(a));
#elif OP == ACC
                    asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(x[c]) : "f"(a), "f"(b));
#elif OP == IADD
                    iadd(k[c], i, j);
#elif OP == LOP
                    asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(k[c]) : "r"(i), "r"(j));
#elif OP == IMAD
                    asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(k[c]) : "r"(i), "r"(j));
#elif OP == FADD
                    asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x[c]) : "f"(a));
#elif OP == MUFU
                    asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[c]));
#elif OP == MIX11
                    if ((u * ILP + c) % 2) iadd(k[c], i, j);
                    else ffma_xab(x[c], a, b);
#elif OP == MIX31
                    if ((u * ILP + c) % 4 == 3) iadd(k[c], i, j);
                    else ffma_xab(x[c], a, b);
#endif
                }
            }
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
    // Never true at run time: keeps the results alive without a store in the timed region.
    float sum = 0;
    int total = 0;
    for (int c = 0; c < ILP; ++c) {
        sum += x[c];
        total += k[c];
    }
    if (sum == 1234.5f && total == 987654321) out[0] = (long long)sum + total;
}
