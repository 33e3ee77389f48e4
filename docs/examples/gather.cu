// y[i] = table[index[i]]: each warp copies one row of 2 KiB after the other.

extern "C" __global__ void __launch_bounds__(256)
gather(const float4* __restrict__ table, const int* __restrict__ index, float4* __restrict__ y, int rows) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int row = blockIdx.x * 8 + threadIdx.x / 32; row < rows; row += gridDim.x * 8) {
    const float4* from = table + (long long)index[row] * 128;
    float4* to = y + (long long)row * 128;
#pragma unroll
    for (int i = 0; i < 4; ++i) to[lane + 32 * i] = from[lane + 32 * i];
  }
}
