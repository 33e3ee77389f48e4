// Kernels that only read or only write, one after the other.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256) read(const float4 *source, u64 vectors, float4 *never) {
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < vectors; i += (u64)gridDim.x * blockDim.x) {
        const float4 found = source[i];
        sum.x += found.x, sum.y += found.y, sum.z += found.z, sum.w += found.w;
    }
    if (sum.x + sum.y + sum.z + sum.w == 1234.5f) *never = sum;
}

extern "C" __global__ void __launch_bounds__(256) write(float4 *target, u64 vectors) {
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < vectors; i += (u64)gridDim.x * blockDim.x)
        target[i] = make_float4(1.f, 2.f, 3.f, 4.f);
}
