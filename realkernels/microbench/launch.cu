// Launch and CTA dispatch: an empty kernel, and CTAs that occupy their slot for a known time.
#include "common.cuh"

extern "C" __global__ void empty() {}

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
