// Stores of all warps of a CTA at the same time. ROWS 1: SIZE bytes by lanes side by side, further lanes in other rows,
// and the next store the SIZE bytes behind; ROWS 0: a value of each lane's structure of SIZE bytes, and the next store the
// value behind it, until it is full.
#include "common.cuh"

constexpr int PITCH = 4096;   // bytes from row to row
constexpr int STRUCTURES = 32 * SIZE;   // bytes of those of a warp

__device__ __forceinline__ void store(char *to, u32 v) {
#if WIDTH == 4
    asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(v) : "memory");
#elif WIDTH == 8
    asm volatile("st.global.v2.b32 [%0], {%1, %1};" ::"l"(to), "r"(v) : "memory");
#else
    asm volatile("st.global.v4.b32 [%0], {%1, %1, %1, %1};" ::"l"(to), "r"(v) : "memory");
#endif
}

// out[warp]: cycles from the barrier until a load behind `STORES` stores of the warp has come.
extern "C" __global__ void store_parts(long long *out, const u32 *source, char *target) {
    constexpr int PER_PIECE = SIZE / WIDTH;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#if ROWS
    char *to = target + (u64)(warp * (32 / PER_PIECE) + lane / PER_PIECE) * PITCH + lane % PER_PIECE * WIDTH;
#else
    char *to = target + (u64)warp * (STORES / PER_PIECE) * STRUCTURES + lane * SIZE;
#endif
    u32 found;
    for (int round = 0; round < 2; ++round) {   // the first brings the code
        __syncthreads();
        const long long start = cycles();
#pragma unroll
        for (int i = 0; i < STORES; ++i)
#if ROWS
            store(to + i * SIZE, i);
#else
            store(to + i / PER_PIECE * STRUCTURES + i % PER_PIECE * WIDTH, i);
#endif
        asm volatile("ld.global.cg.b32 %0, [%1];" : "=r"(found) : "l"(source + threadIdx.x) : "memory");
        const long long stop = cycles_with(found);
        if (lane == 0) out[warp] = stop - start;
    }
}
