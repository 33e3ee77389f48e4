// One turn of a loop over tiles whose work is a short loop over vectors: what entering and leaving the
// inner loop costs a warp. The barrier is always open (parity 1 of a fresh one), the trip count of the
// inner loop is not known to the compiler.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

extern "C" __global__ void __launch_bounds__(1024)
tile_turn(long long *out, int turns, int vectors, u32 bytes, float a, float b, int repeats) {
    __shared__ __align__(8) u64 storage[32];
    __shared__ Stopwatch watch;
    u32 barrier = shared_address(storage), base = shared_address(arena);
    if (threadIdx.x == 0) {
        for (int s = 0; s < 32; ++s) barrier_init(barrier + 8 * s, 1u << 19);
        barrier_init_fence();
    }
    for (u32 v = threadIdx.x; v < 4 * bytes / 4; v += blockDim.x) reinterpret_cast<float *>(arena)[v] = v;
    float4 acc = make_float4(0, 0, 0, 0);
    const u32 stride = blockDim.x * 16;
    for (int r = 0; r < repeats; ++r) {
        stopwatch_reset(&watch);
        int stage = 0;
        u32 parity = 0;
        long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
#if MODE & 1
            barrier_wait(barrier + 8 * stage, parity | 1);
#endif
            u32 at = base + stage * bytes + threadIdx.x * 16, end = base + stage * bytes + vectors * stride;
#pragma unroll 1
            for (; at < end; at += stride) {
                float4 x;
                asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                             : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                             : "r"(at));
#pragma unroll
                for (int i = 0; i < FMAS; ++i) {
                    x.x = fmaf(x.x, a, b);
                    x.y = fmaf(x.y, a, b);
                    x.z = fmaf(x.z, a, b);
                    x.w = fmaf(x.w, a, b);
                }
                acc.x += x.x;
                acc.y += x.y;
                acc.z += x.z;
                acc.w += x.w;
            }
            __syncwarp();
#if MODE & 2
            if ((threadIdx.x & 31) == 0) barrier_arrive(barrier + 8 * (16 + stage));
#endif
#if MODE & 4
            __syncthreads();
#endif
            if (++stage == 4) {
                stage = 0;
                parity ^= 1;
            }
        }
        long long stop = cycles();
        stopwatch_add(&watch, start, stop);
        stopwatch_store(&watch, out + blockIdx.x * repeats + r);
    }
    if (acc.x + acc.y + acc.z + acc.w == 1234.5f) out[0] = 1;
}
