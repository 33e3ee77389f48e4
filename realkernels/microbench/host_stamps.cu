// A kernel that says when it ran: what lies between two of them is the runtime's and the front end's.
#include "common.cuh"

// out[2 i] the first and out[2 i + 1] the last start of a block, by the global timer (ns). Stamped before
// the wait, not after it: a store at the end would have to be flushed before the kernel counts as done.
// A block ends `duration_ns` after its start; its other warps stay with the one that watches the clock.
extern "C" __global__ void __launch_bounds__(1024) stamp(u64 *out, int i, u64 duration_ns) {
    const u64 start = nanoseconds();
    if (threadIdx.x == 0) {
        atomicMin(out + 2 * i, start);
        atomicMax(out + 2 * i + 1, start);
        while (nanoseconds() - start < duration_ns) {
        }
    }
    __syncthreads();
}

// Start and SM of every block: which blocks of which kernel were resident when.
extern "C" __global__ void __launch_bounds__(1024) stamp_blocks(u64 *out, u64 duration_ns) {
    const u64 start = nanoseconds();
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = start;
        out[2 * blockIdx.x + 1] = sm_id();
        while (nanoseconds() - start < duration_ns) {
        }
    }
    __syncthreads();
}

// As `stamp_blocks`, but all warps except the first end at once: does their room go to blocks of other kernels?
extern "C" __global__ void __launch_bounds__(1024) stamp_blocks_alone(u64 *out, u64 duration_ns) {
    const u64 start = nanoseconds();
    if (threadIdx.x != 0) return;
    out[2 * blockIdx.x] = start;
    out[2 * blockIdx.x + 1] = sm_id();
    while (nanoseconds() - start < duration_ns) {
    }
}
