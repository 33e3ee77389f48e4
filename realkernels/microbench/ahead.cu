// Loads from shared memory that are put ahead of their use, as in a software-pipelined matrix multiplication: LOADS
// vectors for the next turn are asked for AHEAD of the FMAS independent FFMAs before the turn ends. Their address hangs on
// the FFMA in front of them (``mask`` is 0), so that the compiler cannot ask for them earlier.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

__device__ __forceinline__ float4 fetch(u32 at) {
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(at));
    return v;
}

__device__ __forceinline__ float part(const float4 &v, int i) {
    return i % 4 == 0 ? v.x : i % 4 == 1 ? v.y : i % 4 == 2 ? v.z : v.w;
}

extern "C" __global__ void __launch_bounds__(THREADS)
ahead(long long *out, float b, u32 mask, int turns, int repeats) {
    __shared__ Stopwatch watch;
    for (int v = threadIdx.x; v < 2 * LOADS * THREADS; v += THREADS)
        reinterpret_cast<float4 *>(arena)[v] = make_float4(v, v + 1, v + 2, v + 3);
    float sum[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) sum[i] = threadIdx.x + i;
    const u32 first = shared_address(arena) + 16 * threadIdx.x;
    float4 now[LOADS], next[LOADS];
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
#pragma unroll
        for (int l = 0; l < LOADS; ++l) now[l] = fetch(first + 16 * THREADS * l);
#pragma unroll 1
        for (int t = 0; t < turns; t += 2) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
#pragma unroll
                for (int i = 0; i <= FMAS; ++i) {
                    if (i == FMAS - AHEAD) {
                        const u32 from = first + (__float_as_uint(sum[(i + 15) % 16]) & mask);
#pragma unroll
                        for (int l = 0; l < LOADS; ++l) next[l] = fetch(from + 16 * THREADS * (LOADS * (1 - half) + l));
                    }
                    if (i < FMAS) sum[i % 16] = fmaf(part(now[i / 4 % LOADS], i), b, sum[i % 16]);
                }
#pragma unroll
                for (int l = 0; l < LOADS; ++l) now[l] = next[l];
            }
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
    float all = 0.f;
#pragma unroll
    for (int i = 0; i < 16; ++i) all += sum[i];
    if (all == 1234.5f) out[0] = 1;
}
