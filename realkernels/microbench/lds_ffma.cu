// The inner loop of every tile kernel here: one 16-byte vector from shared memory, FMAS dependent
// FFMAs on each component, add to an accumulator. THREADS, FMAS and UNROLL are compile-time,
// as in the kernels, so that offsets fold into the load and loop overhead is the real one.
#include "common.cuh"

#define INNER (FMAS > 16 ? 16 : FMAS)
// WRAP, a power of two of at least twice one turn's bytes, keeps the offset moving: a turn that came
// back to the same addresses would have its loads lifted out of the loop.

extern __shared__ __align__(128) unsigned char arena[];

extern "C" __global__ void __launch_bounds__(THREADS)
lds_ffma(long long *out, float a, float b, int vectors, int repeats) {
    __shared__ Stopwatch watch;
    float4 *tile = reinterpret_cast<float4 *>(arena);
    for (int v = threadIdx.x; v < (WRAP + UNROLL * THREADS * 16) / 16; v += THREADS)
        tile[v] = make_float4(v, v + 1, v + 2, v + 3);
    float4 acc = make_float4(0, 0, 0, 0);
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        long long start = cycles();
        // The wrap costs one logic operation per UNROLL vectors and keeps the loop free of tile ends.
        u32 offset = 0;
#pragma unroll 1
        for (int v = 0; v < vectors; v += UNROLL) {
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                float4 x = *reinterpret_cast<const float4 *>(arena + offset + (u * THREADS + threadIdx.x) * 16);
#if FMAS > 16
#pragma unroll 1
                for (int f = 0; f < FMAS / 16; ++f)
#endif
                {
#pragma unroll
                    for (int i = 0; i < INNER; ++i) {
                        x.x = fmaf(x.x, a, b);
                        x.y = fmaf(x.y, a, b);
                        x.z = fmaf(x.z, a, b);
                        x.w = fmaf(x.w, a, b);
                    }
                }
                acc.x += x.x;
                acc.y += x.y;
                acc.z += x.z;
                acc.w += x.w;
            }
            offset = (offset + UNROLL * THREADS * 16) & (WRAP - 1);
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + r);
    }
    if (acc.x + acc.y + acc.z + acc.w == 1234.5f) out[0] = 1;
}
