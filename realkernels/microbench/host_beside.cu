// A kernel that is bound by memory: 16 bytes of x and of y are read, 16 of y written.
#include "common.cuh"

// Few enough registers for all threads of an SM.
extern "C" __global__ void __launch_bounds__(1024, 2)
saxpy(const float4 *__restrict__ x, float4 *__restrict__ y, u64 count) {
    const u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const float4 v = x[i];
        float4 w = y[i];
        w.x += 0.5f * v.x;
        w.y += 0.5f * v.y;
        w.z += 0.5f * v.z;
        w.w += 0.5f * v.w;
        y[i] = w;
    }
}
