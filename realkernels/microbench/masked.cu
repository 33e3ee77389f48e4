// What an access takes of the pipe that shared memory and L1 have in common, if no lane of the warp takes part in it.
// ACCESS 0: none, 1: ld.shared, 2: st.shared, 3: ld.global, 4: cp.async, before which the assembler puts loads that no
// lane executes, 5: cp.async that is executed, 6: the end of a group of cp.async (an empty one).
// BESIDE: loads from shared memory, which are executed, in front of each.
#include "common.cuh"

#define ACCESSES 8

extern "C" __global__ void __launch_bounds__(1024)
masked(long long *out, uint4 *global, u32 never, int turns, int repeats) {
    __shared__ Stopwatch watch;
    __shared__ __align__(128) uint4 arena[1024 + 32 * ACCESSES];
    const u32 at = shared_address(arena) + 4 * (threadIdx.x & 31), own = shared_address(arena) + 16 * threadIdx.x;
    u32 rest = threadIdx.x;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#pragma unroll
            for (int i = 0; i < ACCESSES; ++i) {
                const u32 word = at + 128 * i;
                u32 found = 0;
#pragma unroll
                for (int b = 0; b < BESIDE; ++b) {
                    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(found) : "r"(word) : "memory");
                    rest ^= found;
                }
#if ACCESS == 1
                asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.volatile.shared.u32 %0, [%1];}"
                             : "=r"(found) : "r"(word), "r"(never) : "memory");
                rest ^= found;
#elif ACCESS == 2
                asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p st.volatile.shared.u32 [%0], %1;}"
                             ::"r"(word), "r"(rest), "r"(never) : "memory");
#elif ACCESS == 3
                asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p ld.volatile.global.u32 %0, [%1];}"
                             : "=r"(found) : "l"(global + 32 * i), "r"(never) : "memory");
                rest ^= found;
#elif ACCESS == 4
                asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16;}"
                             ::"r"(own), "l"(global + threadIdx.x), "r"(never) : "memory");
#elif ACCESS == 5
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(own), "l"(global + threadIdx.x) : "memory");
#elif ACCESS == 6
                asm volatile("cp.async.commit_group;" ::: "memory");
#endif
            }
        }
        long long stop = cycles();
        asm volatile("cp.async.wait_all;" ::: "memory");
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
    if (rest == 0x12345678u) out[0] = rest;
}
