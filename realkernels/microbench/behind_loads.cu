// Shared memory while other warps load as much as has room in L1 (or in the table of cp.async), and more.
//
// Compile-time constants (-D): COUNT loads of 16 bytes that a thread has under way. behind_loads: SHUFFLE, REGISTERS (1:
// ld.global; 0: cp.async). beside_loads: SHARED (1: what is computed on comes from shared memory).
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

#ifdef REGISTERS
// How long a load from shared memory (SHUFFLE 1: a shuffle) takes while other warps load without a pause: warp 0 makes a
// chain of them. Of the warps behind the first `loaders` load; with `apart` none of them is on the scheduler of warp 0.
// out per CTA: cycles of the chain; bytes loaded, and in how many cycles.
extern "C" __global__ void __launch_bounds__(1024)
behind_loads(long long *out, const char *source, u64 mask, int steps, int loaders, int apart, long long lead) {
    __shared__ u32 ring[32];
    __shared__ volatile int over;
    __shared__ u64 loaded;
    __shared__ u32 sink;
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) ring[lane] = shared_address(ring + lane);
    if (threadIdx.x == 0) over = 0, loaded = 0;
    __syncthreads();
    // Number among those that may load.
    const int rank = apart ? (int)(warp / 4 * 3 + warp % 4) - 1 : (int)warp - 1;
    if (warp == 0) {
        spin(lead);
        u32 value = shared_address(ring + lane);
        long long start = cycles();
#pragma unroll 1
        for (int i = 0; i < steps; ++i) {
#if SHUFFLE
            value = __shfl_xor_sync(~0u, value, 1);
#else
            asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(value)::"memory");
#endif
        }
        long long stop = cycles_after(value, &sink);
        if (lane == 0) {
            over = 1;
            out[3 * blockIdx.x] = stop - start;
        }
    } else if (rank < loaders && !(apart && warp % 4 == 0)) {
        const u64 step = (u64)gridDim.x * loaders * COUNT * 512;
        u64 at = ((u64)blockIdx.x * loaders + rank) * COUNT * 512 + 16 * lane;
        const u32 to = shared_address(arena) + 16 * threadIdx.x;
        const long long start = cycles();
        u64 mine = 0;
        u32 rest = 0;
        while (!over) {
            const char *from = source + (at & mask);
#if REGISTERS
            uint4 held[COUNT];
#pragma unroll
            for (int i = 0; i < COUNT; ++i)
                asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(held[i].x), "=r"(held[i].y), "=r"(held[i].z), "=r"(held[i].w)
                             : "l"(from + 512 * i) : "memory");
#pragma unroll
            for (int i = 0; i < COUNT; ++i)
                rest ^= held[i].x ^ held[i].y ^ held[i].z ^ held[i].w;
#else
#pragma unroll
            for (int i = 0; i < COUNT; ++i)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from + 512 * i) : "memory");
            asm volatile("cp.async.wait_all;" ::: "memory");
#endif
            at += step;
            mine += COUNT * 512;
        }
        if (rank == 0 && lane == 0) out[3 * blockIdx.x + 2] = cycles() - start + (rest == 0x12345678u);
        if (lane == 0) atomicAdd(&loaded, mine);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[3 * blockIdx.x + 1] = (long long)loaded;
}
#endif

#ifdef SHARED
__device__ __forceinline__ void compute(float4 &x, float a, float b) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        x.x = fmaf(x.x, a, b);
        x.y = fmaf(x.y, a, b);
        x.z = fmaf(x.z, a, b);
        x.w = fmaf(x.w, a, b);
    }
}

// The first `loaders` warps load COUNT * 512 bytes each, once; at the same time the others compute on `vectors` float4.
// out per warp, from the last of `turns`: cycles until everything is issued, and until it is there or done.
extern "C" __global__ void __launch_bounds__(1024)
beside_loads(long long *out, const char *source, u64 mask, int turns, int vectors, int loaders, float a, float b) {
    __shared__ u32 sink[32];
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 *tile = (float4 *)arena;
    const u32 base = shared_address(tile + threadIdx.x);
    for (int i = 0; i < 2; ++i) tile[i * blockDim.x + threadIdx.x] = make_float4(1.f, 2.f, 3.f, 4.f);
    long long issued = 0, done = 0;
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
    u32 rest = 0;
    for (int t = 0; t < turns; ++t) {
        const u64 part = (u64)t * gridDim.x + blockIdx.x;
        const char *from = source + (part * (COUNT * 512 * loaders) & mask) + 512 * warp + 16 * lane;
        __syncthreads();
        const long long began = cycles();
        if (warp < loaders) {
            uint4 held[COUNT];
#pragma unroll
            for (int i = 0; i < COUNT; ++i)
                asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(held[i].x), "=r"(held[i].y), "=r"(held[i].z), "=r"(held[i].w)
                             : "l"(from + i * 512 * loaders) : "memory");
            issued = cycles() - began;
#pragma unroll
            for (int i = 0; i < COUNT; ++i) rest ^= held[i].x ^ held[i].y ^ held[i].z ^ held[i].w;
            done = cycles_after(rest, sink + warp) - began;
        } else {
#pragma unroll 1
            for (int v = 0; v < vectors; ++v) {
                float4 x = make_float4(a + v, b + v, a - v, b - v);
#if SHARED
                asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                             : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                             : "r"(base + 16 * blockDim.x * (v & 1)));
#endif
                compute(x, a, b);
                sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
            }
            done = cycles_after(__float_as_uint(sum.x + sum.y + sum.z + sum.w), sink + warp) - began;
        }
        __syncthreads();
        spin(3000);
    }
    if (lane == 0) {
        long long *mine = out + 2 * (blockIdx.x * warps + warp);
        mine[0] = issued;
        mine[1] = done;
    }
}
#endif
