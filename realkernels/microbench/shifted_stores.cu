// Stores of all SMs that fill an array in order, lane beside lane, from an address off a line or off a sector on.
//
// Compile-time constants (-D): WIDTH of a lane's store in bytes (4, 8, 16), READS (1: what is stored is read first, from
// whole lines), RUN (stores that a warp puts side by side, right behind each other).
#include "common.cuh"

#if WIDTH == 4
typedef u32 Value;
#elif WIDTH == 8
typedef uint2 Value;
#else
typedef uint4 Value;
#endif

// `count` values; of the target only the first `kept` are written, again and again.
extern "C" __global__ void __launch_bounds__(256)
shifted_stores(const Value *source, Value *target, u64 count, u64 kept) {
    const u64 step = (u64)gridDim.x * blockDim.x * RUN, warp = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (u64 i = warp * 32 * RUN + threadIdx.x % 32; i < count; i += step) {
        Value x[RUN];
#pragma unroll
        for (u32 r = 0; r < RUN; ++r) {
#if READS
            x[r] = source[i + 32 * r];
#else
            for (u32 k = 0; k < WIDTH / 4; ++k) ((u32 *)&x[r])[k] = (u32)i + r + k;
#endif
        }
        Value *to = target + i % kept;
#pragma unroll
        for (u32 r = 0; r < RUN; ++r) to[32 * r] = x[r];
    }
}
