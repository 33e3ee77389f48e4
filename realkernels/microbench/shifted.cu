// cp.async whose destination starts elsewhere in its line than its source: rounds of 16 bytes a lane, four in flight.
#include "common.cuh"

// out: cycles of all turns of the CTA. `bytes` of a round; the destination begins `shift` bytes behind a line.
extern "C" __global__ void __launch_bounds__(1024)
shifted(long long *out, const unsigned char *source, u32 bytes, u32 shift, int turns, u64 range) {
    extern __shared__ __align__(128) unsigned char arena[];
    __shared__ Stopwatch watch;
    const u32 room = (bytes + 255) & ~127u;
    const u32 to = shared_address(arena) + shift + threadIdx.x * 16;
    u64 offset = 0;
    stopwatch_reset(&watch);
    const long long start = cycles();
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
        const unsigned char *from = source + offset + threadIdx.x * 16;
        for (u32 at = threadIdx.x * 16; at < bytes; at += blockDim.x * 16)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + (turn & 3) * room + at - threadIdx.x * 16),
                         "l"(from + at - threadIdx.x * 16)
                         : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 3;" ::: "memory");
        offset = (offset + bytes) & (range - 1);
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    stopwatch_add(&watch, start, cycles());
    stopwatch_store(&watch, out + blockIdx.x);
}
