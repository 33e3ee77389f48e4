// Arrays of structures: each thread reads or writes COUNT values of WIDTH bytes that lie behind each other, one
// instruction each; dense: lane beside lane. READ and WRITE: 0 nothing, 1 structures, 2 dense; READ 3: one value of each
// thread, dense, of which all that it writes is made, so that its stores stand right behind each other; READ 4: the same
// behind LONG multiplications, so that warps come to their stores one at a time. CTAs come and go.
#include "common.cuh"

#if WIDTH == 4
typedef u32 Value;
__device__ __forceinline__ Value value(u32 i) { return i; }
__device__ __forceinline__ u32 bits(Value v) { return v; }
#elif WIDTH == 8
typedef uint2 Value;
__device__ __forceinline__ Value value(u32 i) { return make_uint2(i, 1); }
__device__ __forceinline__ u32 bits(Value v) { return v.x ^ v.y; }
#else
typedef uint4 Value;
__device__ __forceinline__ Value value(u32 i) { return make_uint4(i, 1, 2, 3); }
__device__ __forceinline__ u32 bits(Value v) { return v.x ^ v.y ^ v.z ^ v.w; }
#endif

__device__ __forceinline__ u64 place(int layout, int u) {
    const u64 first = (u64)blockIdx.x * blockDim.x * COUNT;
    return layout == 1 ? first + threadIdx.x * COUNT + u : first + u * blockDim.x + threadIdx.x;
}

extern "C" __global__ void __launch_bounds__(256)
structs(const Value *source, Value *target) {
    Value v[COUNT];
#if READ >= 3
    const Value one = source[(u64)blockIdx.x * blockDim.x + threadIdx.x];
    u32 x = bits(one);
#if READ == 4
#pragma unroll 1
    for (int i = 0; i < LONG; ++i) x = x * 1664525u + 1013904223u;
#endif
#pragma unroll
    for (int u = 0; u < COUNT; ++u) v[u] = value(x + u);
#else
#pragma unroll
    for (int u = 0; u < COUNT; ++u) v[u] = READ ? source[place(READ, u)] : value(threadIdx.x + u);
#endif
#if WRITE
    // Volatile, so that the compiler does not make one wide store of them.
#pragma unroll
    for (int u = 0; u < COUNT; ++u) {
        Value *to = target + place(WRITE, u);
#if WIDTH == 4
        asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(v[u]) : "memory");
#elif WIDTH == 8
        asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(v[u].x), "r"(v[u].y) : "memory");
#else
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v[u].x), "r"(v[u].y), "r"(v[u].z), "r"(v[u].w) : "memory");
#endif
    }
#else
    u32 all = 0;
#pragma unroll
    for (int u = 0; u < COUNT; ++u) all += bits(v[u]);
    if (all == 123456789u) target[0] = v[0];
#endif
}
