// Launch and CTA dispatch: an empty kernel, and CTAs that occupy their slot for a known time.
#include "common.cuh"

extern "C" __global__ void empty() {}

// CTAs that come and go: WORK chained FFMAs in each thread, then nothing (END 0), a load of what L2 holds (1), STORES
// stores of 4 bytes to what L2 holds (2) or to all of `target` in turn (3), or a store that no lane executes (4).
extern "C" __global__ void __launch_bounds__(1024) short_ctas(float *target, int window, float a, float b) {
    float x = a;
    const unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) & (window - 1);
#pragma unroll
    for (int i = 0; i < WORK; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(b));
#if END == 1
    const float found = target[at];
    if (found == 1234.5f) target[0] = x;
#elif END == 2 || END == 3
#pragma unroll
    for (int i = 0; i < STORES; ++i) target[(at + i * (window / 4)) & (window - 1)] = x;
#elif END == 4
    asm volatile("{.reg .pred p; setp.eq.f32 p, %1, 0f449A5000; @p st.global.f32 [%0], %1;}" ::"l"(target + at), "f"(x));
#else
    if (x == 1234.5f) target[at] = x;
#endif
}

// As long from the first instruction to the last; a store would have to reach L2 before the kernel ends.
extern "C" __global__ void __launch_bounds__(1024) spin(int duration) {
    const long long start = cycles();
    while (cycles() - start < duration) {
    }
}

// out per CTA: SM clock at its first instruction, SM clock at its end, SM, global timer at its start.
extern "C" __global__ void __launch_bounds__(1024) occupy(long long *out, int duration) {
    long long start = cycles();
    if (threadIdx.x == 0) {
        long long *mine = out + 4 * blockIdx.x;
        mine[3] = (long long)nanoseconds();
        mine[0] = start;
        mine[2] = sm_id();
    }
    while (cycles() - start < duration) {
    }
    // Written by the one thread that began the CTA; nothing but this store follows the stamp.
    if (threadIdx.x == 0) out[4 * blockIdx.x + 1] = cycles();
}
