// CTAs that each read the tiles of a row and of a column, as those of a product of matrices do, and keep up to STAGES
// pairs of tiles under way. A pair is wanted for `pace` cycles; with HELD it is given back when the next one is there.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out per CTA: cycles from its first request to the arrival of every `every`-th pair, and of the last.
extern "C" __global__ void __launch_bounds__(32)
abreast(long long *out, const uint4 *source, int rows, int turns, int every, int pace) {
    constexpr int PAIR = ROW_TILE + COLUMN_TILE;
    __shared__ u64 barriers[STAGES];
    if (threadIdx.x) return;
    for (int s = 0; s < STAGES; ++s) barrier_init(shared_address(barriers + s), 1);
    barrier_init_fence();
    const int row = blockIdx.x % rows, column = blockIdx.x / rows;
    const uint4 *a = source + (u64)row * turns * (ROW_TILE / 16);
    const uint4 *b = source + (u64)rows * turns * (ROW_TILE / 16) + (u64)column * turns * (COLUMN_TILE / 16);
    const auto request = [&](int t) {
        if (t >= turns) return;
        const u32 barrier = shared_address(barriers + t % STAGES), to = shared_address(arena) + t % STAGES * PAIR;
        barrier_expect(barrier, PAIR);
#if ROW_TILE
        bulk_load(to, a + (u64)t * (ROW_TILE / 16), ROW_TILE, barrier);
#endif
#if COLUMN_TILE
        bulk_load(to + ROW_TILE, b + (u64)t * (COLUMN_TILE / 16), COLUMN_TILE, barrier);
#endif
    };
    long long *stamp = out + (u64)blockIdx.x * (turns / every + 1);
    const long long start = cycles();
    for (int t = 0; t < STAGES; ++t) request(t);
    int left = 0;
    for (int t = 0; t < turns; ++t) {
        barrier_wait(shared_address(barriers + t % STAGES), t / STAGES & 1);
        const long long there = cycles();
        if (left-- == 0) {
            *stamp++ = there - start;
            left = every - 1;
        }
        if (HELD && t) request(t - 1 + STAGES);
        while (cycles() - there < pace) {}
        if (!HELD) request(t + STAGES);
    }
    *stamp = cycles() - start;
}
