// y = x / |x|, one CTA for each row of 8192 floats, which it reads twice: the second time out of L2.

extern "C" __global__ void __launch_bounds__(256)
rows(const float4* __restrict__ x, float4* __restrict__ y) {
  __shared__ __align__(16) float partial[8];
  const long long first = blockIdx.x * 2048ll;
  float sum = 0.f;
#pragma unroll 1
  for (int i = threadIdx.x; i < 2048; i += 256) {
    const float4 v = x[first + i];
    sum = fmaf(v.x, v.x, sum);
    sum = fmaf(v.y, v.y, sum);
    sum = fmaf(v.z, v.z, sum);
    sum = fmaf(v.w, v.w, sum);
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0.f;
#pragma unroll
  for (int w = 0; w < 8; ++w) total += partial[w];
  const float scale = rsqrtf(total);
#pragma unroll 1
  for (int i = threadIdx.x; i < 2048; i += 256) {
    float4 v = x[first + i];
    v.x *= scale;
    v.y *= scale;
    v.z *= scale;
    v.w *= scale;
    y[first + i] = v;
  }
}
