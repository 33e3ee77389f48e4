// What a CTA barrier adds to arithmetic of each warp between two of them. KIND 0: no barrier; 1: barrier; 2: store to
// shared memory; 3: store, then barrier. UNROLLED steps stand between two branches. INTEGER: funnel shifts, not FFMAs.
#include "common.cuh"

#if INTEGER
#define STEP(v) v = __uint_as_float(__funnelshift_l(__float_as_uint(v), __float_as_uint(a), 7));
#else
#define STEP(v) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v) : "f"(a), "f"(b));
#endif

// out[2 w], out[2 w + 1]: when warp w begins and ends.
extern "C" __global__ void __launch_bounds__(1024) deferred(long long *out, int turns, float a, float b) {
    __shared__ __align__(128) float4 arena[1024];
    const u32 at = shared_address(arena) + 16 * threadIdx.x;
    float x = a, y = b, z = a, w = b;
    __syncthreads();
    const long long start = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
#pragma unroll
        for (int u = 0; u < UNROLLED; ++u) {
#pragma unroll
            for (int i = 0; i < EACH; ++i) {
                STEP(x)
                STEP(y)
                STEP(z)
                STEP(w)
            }
#if KIND & 2
            asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(at), "f"(x), "f"(y), "f"(z), "f"(w) : "memory");
#endif
#if KIND & 1
            asm volatile("bar.sync 0;" ::: "memory");
#endif
        }
    }
    const long long stop = cycles();
    if (threadIdx.x % 32 == 0) {
        out[threadIdx.x / 16] = start;
        out[threadIdx.x / 16 + 1] = stop;
    }
    if (x + y + z + w == 1234.5f) out[0] = 1;
}
