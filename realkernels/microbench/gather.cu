// Loads of a word a lane whose lanes meet in LINES lines of 128 bytes, from a table that L1 holds.
#include "common.cuh"

#define LOADS 8

// APART 0: the lanes of each line take its first words, so that lines meet in banks; 1: each lane has a bank of its own.
// out per CTA: cycles of all turns.
extern "C" __global__ void __launch_bounds__(1024)
gather(long long *out, const u32 *table, u32 mask, int turns) {
    __shared__ u32 sink;
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const u32 line = lane / (32 / LINES), word = APART ? lane : lane % (32 / LINES);
    u32 sum = 0;
    // Once to bring the table in.
    for (u32 i = threadIdx.x; i <= mask / 4; i += blockDim.x) sum += table[i];
    __syncthreads();
    const long long start = cycles();
    u32 first = warp * 7 + line * 37;
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
        u32 found[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; ++i) {
            const u32 at = ((first + i * 11) * 128 + word * 4) & mask;
            found[i] = *reinterpret_cast<const u32 *>(reinterpret_cast<const char *>(table) + at);
        }
#pragma unroll
        for (int i = 0; i < LOADS; ++i) sum += found[i];
        first += 101;
    }
    const long long stop = cycles_after(sum, &sink);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = cycles() - start;
    if (stop < start) out[0] = sink;
}
