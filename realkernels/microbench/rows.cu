// cp.async of tiles in rows: ROW bytes side by side, SOURCE_PITCH apart in global and PITCH in shared memory. Rounds of
// 16 KiB, four in flight; with SWIZZLED the parts of a row lie in shared memory in another order for each row.
#include "common.cuh"

constexpr int ROUND = 16384, ROWS = ROUND / ROW, LANES = ROW / 16;

// out: cycles of all turns of the CTA. CTAs begin in different places of `range` bytes, and go along the rows.
extern "C" __global__ void __launch_bounds__(THREADS)
rows(long long *out, const unsigned char *source, int turns, u64 range) {
    extern __shared__ __align__(128) unsigned char arena[];
    __shared__ Stopwatch watch;
    const int row = threadIdx.x / LANES, part = threadIdx.x % LANES;
    const u32 to = shared_address(arena) + row * PITCH + 16 * (SWIZZLED ? part ^ (row % LANES) : part);
    const u64 first = ((u64)blockIdx.x * ROWS * SOURCE_PITCH) % range;
    u64 along = 0;
    stopwatch_reset(&watch);
    const long long start = cycles();
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
        const unsigned char *from = source + first + along + (u64)row * SOURCE_PITCH + 16 * part;
#pragma unroll
        for (int i = 0; i < ROWS; i += THREADS / LANES)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + (turn & 3) * (ROWS * PITCH) + i * PITCH),
                         "l"(from + (u64)i * SOURCE_PITCH)
                         : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 3;" ::: "memory");
        along = along + 2 * ROW > SOURCE_PITCH ? 0 : along + ROW;
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    stopwatch_add(&watch, start, cycles());
    stopwatch_store(&watch, out + blockIdx.x);
}
