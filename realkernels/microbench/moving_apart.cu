// How CTAs that copy the same tiles move apart. Each keeps STAGES tiles under way: SHARED bytes that all CTAs of its
// pass over the SMs read, and OWN bytes that nobody else does. None of them waits for another.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out per CTA: cycles from its first tile to every `every`-th one, and to the last.
extern "C" __global__ void __launch_bounds__(32)
moving_apart(long long *out, const uint4 *source, int sms, int tiles, int own_tiles, int turns, int every, int pace) {
    constexpr int TILE = SHARED + OWN;
    __shared__ u64 barriers[STAGES];
    if (threadIdx.x) return;
    for (int s = 0; s < STAGES; ++s) barrier_init(shared_address(barriers + s), 1);
    barrier_init_fence();
    const uint4 *shared = source, *own = source + ((u64)tiles * SHARED + (u64)blockIdx.x * own_tiles * OWN) / 16;
    // CTAs of another pass are half of the tiles away.
    int at = blockIdx.x / sms % 2 * (tiles / 2), own_at = 0, s = 0, parity = 1, left = 0;
    long long *stamp = out + (u64)blockIdx.x * (turns / every + 1);
    const long long start = cycles();
    long long last = start;
    for (int t = 0; t < turns; ++t) {
        const u32 barrier = shared_address(barriers + s);
        if (t >= STAGES) barrier_wait(barrier, parity);
        if (pace) {
            while (cycles() - last < pace) {}
            last = cycles();
        }
        if (left-- == 0) {
            *stamp++ = cycles() - start;
            left = every - 1;
        }
        const u32 to = shared_address(arena) + s * TILE;
        barrier_expect(barrier, TILE);
#if SHARED
        bulk_load(to, shared + (u64)at * (SHARED / 16), SHARED, barrier);
#endif
#if OWN
        bulk_load(to + SHARED, own + (u64)own_at * (OWN / 16), OWN, barrier);
#endif
        if (++at == tiles) at = 0;
        if (++own_at == own_tiles) own_at = 0;
        if (++s == STAGES) s = 0, parity ^= 1;
    }
    for (int k = 0; k < STAGES; ++k) {
        barrier_wait(shared_address(barriers + s), parity);
        if (++s == STAGES) s = 0, parity ^= 1;
    }
    *stamp = cycles() - start;
}
