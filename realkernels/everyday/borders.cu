// Kernels of the everyday kind that write rows which do not begin on a sector of 32 bytes.

// Rows of 8192 floats into an array with a border of four on both sides.
extern "C" __global__ void __launch_bounds__(256)
pad_rows(const float2* __restrict__ in, float* __restrict__ out) {
  const int column = blockIdx.x * 256 + threadIdx.x, row = blockIdx.y;
  ((float2*)(out + row * 8200ll + 4))[column] = in[row * 4096ll + column];
}

// A stencil of five points on an array with a border of four: each warp 128 columns of eight rows.
extern "C" __global__ void __launch_bounds__(128)
five_point(const float* __restrict__ in, float* __restrict__ out) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long first = (1 + blockIdx.y * 32 + warp * 8) * 8200ll + 4 + blockIdx.x * 128 + lane;
#pragma unroll 1
  for (int row = 0; row < 8; ++row) {
    const float* p = in + first + row * 8200ll;
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      v[k] = 0.5f * p[32 * k] + 0.125f * (p[32 * k - 1] + p[32 * k + 1] + p[32 * k - 8200] + p[32 * k + 8200]);
#pragma unroll
    for (int k = 0; k < 4; ++k) out[first + row * 8200ll + 32 * k] = v[k];
  }
}

// The positive part of rows of 1001 floats, less the row's first element.
extern "C" __global__ void __launch_bounds__(256)
odd_rows(const float* __restrict__ in, float* __restrict__ out) {
  const float* row = in + blockIdx.x * 1001ll;
  const float first = __ldg(row);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int column = k * 256 + threadIdx.x;
    if (column < 1001) out[blockIdx.x * 1001ll + column] = fmaxf(row[column] - first, 0.f);
  }
}
