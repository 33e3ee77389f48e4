// ldmatrix: latency from address to data, and how often all warps of an SM can load. MATRICES: 1, 2 or 4 of 8 x 8.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

__device__ __forceinline__ void load(u32 (&v)[4], u32 at) {
#if MATRICES == 1
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v[0]) : "r"(at) : "memory");
#elif MATRICES == 2
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(at) : "memory");
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at) : "memory");
#endif
}

// Each address is made of what was loaded before (a chain), or not; rows of 80 bytes, as a padded tile has them.
extern "C" __global__ void __launch_bounds__(1024) ldmatrix(long long *out, int turns, int chain) {
    __shared__ Stopwatch watch;
    for (u32 i = threadIdx.x; i < (24 << 10) / 4; i += blockDim.x) ((u32 *)arena)[i] = 0;
    const u32 base = shared_address(arena) + threadIdx.x % 32 * 80 + threadIdx.x / 32 % 8 * 2560;
    u32 rest = 0;
    stopwatch_reset(&watch);
    const long long start = cycles();
    if (chain) {
        u32 v[4] = {};
#pragma unroll 1
        for (int t = 0; t < turns; ++t)
#pragma unroll
            for (int u = 0; u < 8; ++u) load(v, base + v[0]);
        rest = v[0];
    } else {
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
            u32 v[8][4];
#pragma unroll
            for (int u = 0; u < 8; ++u) load(v[u], base + 16 * u);
#pragma unroll
            for (int u = 0; u < 8; ++u)
                for (int m = 0; m < MATRICES; ++m) rest = 3 * rest + v[u][m];
        }
    }
    const long long stop = chain ? cycles_with(rest) : cycles();
    stopwatch_add(&watch, start, stop);
    stopwatch_store(&watch, out + blockIdx.x);
    if (rest == 0x12345678u) out[0] = rest;
}
