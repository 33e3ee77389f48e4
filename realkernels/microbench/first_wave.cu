// When the CTAs of the first wave begin on their SMs.
#include "common.cuh"

// out per CTA: SM cycles at its first instruction, its SM. They stay for `duration` cycles, so that all are there at once.
extern "C" __global__ void __launch_bounds__(1024) first_wave(long long *out, int duration) {
    const long long began = cycles();
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = began;
        out[2 * blockIdx.x + 1] = sm_id();
    }
    while (cycles() - began < duration) {
    }
}
