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
// Of the others each may stand alone or in turn with another (BESIDE).
#define SHF 10
#define PRMT 11
#define FMNMX 12
#define I2F 13
#define I2F_BYTE 14
#define F2I 15
#define F2F_HALF 16
#define POPC 17
#define DFMA 18
#define HFMA2 19
#define IMAD_WIDE 20
#define SHFL 21
#define DP4A 22
#define VOTE 23
#define SELECT 24   // ISETP and SEL
#define CONSTANT 25   // a load from constant memory, and the instruction that finds its address

#define ALONE 0
#define BESIDE_FFMA 1
#define BESIDE_IADD 2

#ifndef BESIDE
#define BESIDE ALONE
#endif
#define TURNS (BODY / ILP)

// Each operation is volatile assembly: the optimiser may neither fold a chain nor merge two.
__device__ __forceinline__ void ffma_xab(float &x, float a, float b) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
}
__device__ __forceinline__ void iadd(int &k, int i, int j) {
    // Three inputs make one IADD3; the compiler cannot turn it into an IMAD on the FMA pipe.
    asm volatile("{.reg .s32 t; add.s32 t, %0, %1; add.s32 %0, t, %2;}" : "+r"(k) : "r"(i), "r"(j));
}

__constant__ int zeros[64];

extern "C" __global__ void __launch_bounds__(1024)
issue(long long *out, float a, float b, int i, int j, int turns, int repeats) {
    __shared__ Stopwatch watch;
    float x[ILP];
    int k[ILP];
    double d[ILP];
    long long l[ILP];
    for (int c = 0; c < ILP; ++c) {
        x[c] = threadIdx.x * 1e-6f + c * a;
        k[c] = OP == CONSTANT ? c : threadIdx.x + (c + 1) * i;
        d[c] = x[c];
        l[c] = k[c];
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
#if BESIDE == BESIDE_FFMA
                    if ((u * ILP + c) % 2) {
                        ffma_xab(x[c], a, b);
                        continue;
                    }
#elif BESIDE == BESIDE_IADD
                    if ((u * ILP + c) % 2) {
                        iadd(k[c], i, j);
                        continue;
                    }
#endif
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
#elif OP == SHF
                    asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(k[c]) : "r"(i));
#elif OP == PRMT
                    asm volatile("prmt.b32 %0, %0, %1, 0x2143;" : "+r"(k[c]) : "r"(i));
#elif OP == FMNMX
                    asm volatile("max.f32 %0, %0, %1;" : "+f"(x[c]) : "f"(a));
#elif OP == I2F
                    asm volatile("{.reg .f32 t; cvt.rn.f32.s32 t, %0; mov.b32 %0, t;}" : "+r"(k[c]));
#elif OP == I2F_BYTE
                    asm volatile("{.reg .f32 t; cvt.rn.f32.u8 t, %0; mov.b32 %0, t;}" : "+r"(k[c]));
#elif OP == F2I
                    asm volatile("{.reg .s32 t; cvt.rzi.s32.f32 t, %0; mov.b32 %0, t;}" : "+f"(x[c]));
#elif OP == F2F_HALF
                    asm volatile("{.reg .b16 t, u; mov.b32 {t, u}, %0; cvt.f32.f16 %0, t;}" : "+f"(x[c]));
#elif OP == POPC
                    asm volatile("popc.b32 %0, %0;" : "+r"(k[c]));
#elif OP == DFMA
                    asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(d[c]));
#elif OP == HFMA2
                    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(k[c]) : "r"(i), "r"(j));
#elif OP == IMAD_WIDE
                    asm volatile("{.reg .b32 t, u; mov.b64 {t, u}, %0; mad.wide.s32 %0, t, %1, %0;}" : "+l"(l[c]) : "r"(i));
#elif OP == SHFL
                    asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(k[c]));
#elif OP == DP4A
                    asm volatile("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(k[c]) : "r"(i), "r"(j));
#elif OP == VOTE
                    asm volatile("{.reg .pred p; setp.ne.s32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1;}" : "+r"(k[c]) : "r"(i));
#elif OP == CONSTANT
                    k[c] = zeros[k[c]];
#elif OP == SELECT
                    asm volatile("{.reg .pred p; setp.gt.s32 p, %0, %1; selp.s32 %0, %2, %0, p;}" : "+r"(k[c]) : "r"(i), "r"(j));
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
        sum += x[c] + (float)d[c];
        total += k[c] + (int)l[c];
    }
    if (sum == 1234.5f && total == 987654320) out[0] = (long long)sum + total;
}
