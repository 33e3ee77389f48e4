// A word that L2 holds, asked for behind bulk copies that DRAM has to bring: how long it takes to come.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out per CTA: SM cycles from the beginning of the copies until the word is asked for, from then until it is there, and
// from the beginning until the copies have landed. Each CTA has `copies` of `bytes`; the word is asked for `delay`
// cycles after their beginning, or once they have been issued.
extern "C" __global__ void __launch_bounds__(32)
behind_misses(long long *out, const unsigned char *source, u64 part, const u32 *words, int copies, u32 bytes, int delay) {
    __shared__ __align__(8) u64 storage;
    if (threadIdx.x != 0) return;
    const u32 barrier = shared_address(&storage);
    barrier_init(barrier, 1);
    barrier_init_fence();
    const u32 *word = words + blockIdx.x * 32;
    u32 value;
    // Its page and its line have been asked for before.
    for (int i = 0; i < 2; ++i) {
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
        cycles_after(value, (u32 *)arena);
    }
    const long long began = cycles();
    if (copies) barrier_expect(barrier, bytes * copies);
    for (int i = 0; i < copies; ++i)
        bulk_load(shared_address(arena) + i * bytes, source + blockIdx.x * part + (u64)i * bytes, bytes, barrier);
    while (cycles() - began < delay) {
    }
    const long long asked = cycles();
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    const long long there = cycles_after(value, (u32 *)(arena + 16));
    if (copies) barrier_wait(barrier, 0);
    long long *mine = out + 3 * blockIdx.x;
    mine[0] = asked - began;
    mine[1] = there - asked;
    mine[2] = cycles() - began;
}
