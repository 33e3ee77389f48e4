// How often loads from shared memory pass of which lanes want the same words, or words of one bank: lane l loads the
// element l / GROUP % PERIOD, elements lie STEP bytes apart. WORDS is the width in 32-bit words (1, 2, 4).
#include "shared_access.cuh"

extern __shared__ __align__(128) unsigned char arena[];

extern "C" __global__ void __launch_bounds__(1024) words(long long *out, int turns, int repeats) {
    time_loads(out, shared_address(arena) + threadIdx.x % 32 / GROUP % PERIOD * STEP, turns, repeats);
}
