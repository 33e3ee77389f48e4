// What it costs when lanes of a warp part ways: some have one vector more than the others, who wait where the warp comes
// together again. JOIN 0: at the end of the loop (BSYNC); 1: at __syncwarp, before the warp's one arrival, in a kernel
// with roles, whose lanes the compiler takes to be apart anyhow (WARPSYNC). In the first `warps` warps only `lanes` lanes
// have the last of `vectors` vectors. The barriers are always open.
#include "common.cuh"
extern __shared__ __align__(128) unsigned char arena[];
// out[2 w], out[2 w + 1]: when warp w of those who compute begins and ends.
extern "C" __global__ void __launch_bounds__(1024)
parting(long long *out, int turns, int vectors, int lanes, int warps, float a, float b) {
    __shared__ __align__(8) u64 storage[4];
    const u32 base = shared_address(arena), stride = (blockDim.x - 32) * 16, barrier = shared_address(storage);
    const int warp = threadIdx.x / 32;
    for (u32 v = threadIdx.x; v < stride; v += blockDim.x) reinterpret_cast<float *>(arena)[v] = v;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 4; ++s) barrier_init(barrier + 8 * s, 1u << 19);
        barrier_init_fence();
    }
    __syncthreads();
    if (warp == 0) {
        if (threadIdx.x == 0) barrier_wait(barrier, 1);
        return;
    }
    const int thread = (int)threadIdx.x - 32;
    float4 acc = make_float4(0, 0, 0, 0);
    const u32 bytes = stride * (vectors - 1) + 512 * (warp - 1) + 16 * (warp <= warps ? lanes : 32);
    int stage = 0;
    const long long start = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
        barrier_wait(barrier + 8 * stage, 1);
        const u32 tile = base + stage * stride, end = tile + bytes;
#pragma unroll 1
        for (u32 at = tile + 16 * thread; at < end; at += stride) {
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
#if JOIN == 1
        __syncwarp();
        if (thread % 32 == 0) barrier_arrive(barrier + 16 + 8 * stage);
#endif
        if (++stage == 2) stage = 0;
    }
    const long long stop = cycles();
    if (thread % 32 == 0) {
        out[2 * warp - 2] = start;
        out[2 * warp - 1] = stop;
    }
    if (acc.x + acc.y + acc.z + acc.w == 1234.5f) out[0] = 1;
}
