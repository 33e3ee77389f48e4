// A kernel that waits for the one ahead of it and lets the next one begin, and says when.
#include "common.cuh"

__device__ __forceinline__ void stay(u64 duration_ns) {
    const u64 start = nanoseconds();
    while (nanoseconds() - start < duration_ns) {
    }
}

// out[4 i + 0] the first block's start, [1] the first return from the wait, [2] the last moment before the trigger, from
// which a block stays for `after_ns`: its end. Stamped before that, so that nothing has to be flushed at the end.
// `who`: 0 nobody lets the next kernel begin before the end; 1 all threads do; 2 the first thread alone; 3 the first warp,
// the others only at the end.
extern "C" __global__ void __launch_bounds__(1024)
early(u64 *out, int i, u64 prologue_ns, u64 before_ns, u64 after_ns, int who) {
    const u64 start = nanoseconds();
    if (prologue_ns) stay(prologue_ns);
    asm volatile("griddepcontrol.wait;" ::: "memory");
    const u64 waited = nanoseconds();
    if (threadIdx.x == 0 && before_ns) stay(before_ns);
    __syncthreads();
    const u64 trigger = nanoseconds();
    if (who == 1 || (who == 2 && threadIdx.x == 0) || (who == 3 && threadIdx.x < 32))
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    if (threadIdx.x == 0) {
        atomicMin(out + 4 * i, start);
        atomicMin(out + 4 * i + 1, waited);
        atomicMax(out + 4 * i + 2, trigger);
    }
    if (threadIdx.x == 0 || (who == 3 && threadIdx.x == 32)) {
        while (nanoseconds() - trigger < after_ns) {
        }
    }
    if (who == 3 && threadIdx.x >= 32) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    __syncthreads();
}

// Cycles of each instruction where nothing has to be waited for.
extern "C" __global__ void instructions(long long *out) {
    const long long a = clock64();
    asm volatile("griddepcontrol.wait;" ::: "memory");
    const long long b = clock64();
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    const long long c = clock64();
    if (threadIdx.x == 0) out[0] = b - a, out[1] = c - b;
}
