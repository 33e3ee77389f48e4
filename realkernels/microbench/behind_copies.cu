// A load from shared memory behind copies by threads: when they have been issued, and when it is done.
//
// Compile-time constants (-D): COUNT copies of 16 bytes per thread, REGISTERS (1: ld.global; 0: cp.async), ROW and PITCH
// (bytes of a row, and from one to the next in shared memory; in global memory rows lie 4 KiB apart; 0: no rows).
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];
constexpr int THREADS = 256;
#if ROW
constexpr int LANES = ROW / 16, BYTES = COUNT * (THREADS / LANES) * PITCH;
constexpr int STEP = THREADS / LANES * PITCH, SOURCE_STEP = THREADS / LANES * 4096;
#else
constexpr int LANES = 1, BYTES = COUNT * 16 * THREADS, STEP = 16 * THREADS, SOURCE_STEP = 16 * THREADS;
#endif

// out per warp: SM cycles of the last of `turns` turns, from its beginning to the end of issuing, and until a word of
// shared memory that was asked for behind that is there. Tiles lie `offset` bytes behind a line.
extern "C" __global__ void __launch_bounds__(THREADS)
behind_copies(long long *out, const char *source, u64 mask, int offset, int turns) {
    const int row = threadIdx.x / LANES, part = threadIdx.x % LANES;
    const u32 to = shared_address(arena) + (ROW ? row * PITCH + 16 * part : 16 * row), word = shared_address(arena + BYTES);
    long long issued = 0, done = 0;
    u32 rest = 0;
    for (int t = 0; t < turns; ++t) {
        const u64 tile = (u64)t * gridDim.x + blockIdx.x, at = tile * (COUNT * 16 * THREADS) & mask;
        const char *from = source + (ROW ? (at & ~4095ull) + row * 4096 + 16 * part : at + 16 * row) + offset;
        __syncthreads();
        const long long began = cycles();
#if REGISTERS
        uint4 held[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(held[i].x), "=r"(held[i].y), "=r"(held[i].z), "=r"(held[i].w)
                         : "l"(from + (u64)i * SOURCE_STEP) : "memory");
#else
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i * STEP),
                         "l"(from + (u64)i * SOURCE_STEP) : "memory");
#endif
        issued = cycles() - began;
        u32 value;
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : "r"(word) : "memory");
        done = cycles_after(value, (u32 *)(arena + BYTES)) - began;
#if REGISTERS
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            rest ^= held[i].x ^ held[i].y ^ held[i].z ^ held[i].w;
#else
        asm volatile("cp.async.wait_all;" ::: "memory");
#endif
        __syncthreads();
        spin(3000);
    }
    if (threadIdx.x % 32 == 0) {
        long long *mine = out + 2 * (blockIdx.x * (THREADS / 32) + threadIdx.x / 32);
        mine[0] = issued + (rest == 0x12345678u);
        mine[1] = done;
    }
}
