// y = a * x, float4 by float4: the grid-stride loop that every vector kernel is.

extern "C" __global__ void __launch_bounds__(256)
scale(const float4* __restrict__ x, float4* __restrict__ y, float a, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
#pragma unroll 1
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    float4 v = x[i];
    v.x *= a;
    v.y *= a;
    v.z *= a;
    v.w *= a;
    y[i] = v;
  }
}
