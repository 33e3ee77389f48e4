// Accesses of one warp after the other whose addresses are at hand: how soon it issues the next.
// ACCESS 0: ld.global, 1: st.global, 2: cp.async; WIDTH bytes per lane, lane beside lane; COUNT of them.
#include "common.cuh"

constexpr int SPACE = 32 * WIDTH;

template <int I> __device__ __forceinline__ void access(unsigned char *global, u32 shared, u32 (&found)[4 * COUNT]) {
    if constexpr (I < COUNT) {
        [[maybe_unused]] u32 *word = found + 4 * I;
#if ACCESS == 0 && WIDTH == 4
        asm volatile("ld.volatile.global.u32 %0, [%1+%2];" : "=r"(word[0]) : "l"(global), "n"(I * SPACE) : "memory");
#elif ACCESS == 0 && WIDTH == 8
        asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2+%3];"
                     : "=r"(word[0]), "=r"(word[1]) : "l"(global), "n"(I * SPACE) : "memory");
#elif ACCESS == 0
        asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4+%5];"
                     : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "l"(global), "n"(I * SPACE) : "memory");
#elif ACCESS == 1 && WIDTH == 4
        asm volatile("st.volatile.global.u32 [%0+%1], %2;" ::"l"(global), "n"(I * SPACE), "r"(shared) : "memory");
#elif ACCESS == 1 && WIDTH == 8
        asm volatile("st.volatile.global.v2.u32 [%0+%1], {%2, %2};" ::"l"(global), "n"(I * SPACE), "r"(shared) : "memory");
#elif ACCESS == 1
        asm volatile("st.volatile.global.v4.u32 [%0+%1], {%2, %2, %2, %2};"
                     ::"l"(global), "n"(I * SPACE), "r"(shared) : "memory");
#elif WIDTH == 16
        asm volatile("cp.async.cg.shared.global [%0+%2], [%1+%3], 16;"
                     ::"r"(shared), "l"(global), "n"(I * SPACE), "n"(I * SPACE) : "memory");
#else
        asm volatile("cp.async.ca.shared.global [%0+%2], [%1+%3], %4;"
                     ::"r"(shared), "l"(global), "n"(I * SPACE), "n"(I * SPACE), "n"(WIDTH) : "memory");
#endif
        access<I + 1>(global, shared, found);
    }
}

// out[r]: cycles of repeat r, from before the first access until the last is issued.
extern "C" __global__ void __launch_bounds__(32) in_a_row(long long *out, unsigned char *global, int repeats) {
    __shared__ __align__(128) unsigned char arena[COUNT * SPACE];
    unsigned char *own = global + threadIdx.x * WIDTH;
    const u32 shared = shared_address(arena) + threadIdx.x * WIDTH;
    u32 all = 0;
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        u32 found[4 * COUNT] = {};
        __syncwarp();
        const long long start = cycles();
        access<0>(own, shared, found);
        const long long stop = cycles();
        asm volatile("cp.async.wait_all;" ::: "memory");
        for (int i = 0; i < 4 * COUNT; ++i) all ^= found[i];
        if (threadIdx.x == 0) out[r] = stop - start;
        // What was written has left the queue before the next repeat.
        for (int wait = 0; wait < 2000; ++wait) asm volatile("xor.b32 %0, %0, %1;" : "+r"(all) : "r"(wait));
    }
    if (all == 0x12345678u) out[0] = all;
}
