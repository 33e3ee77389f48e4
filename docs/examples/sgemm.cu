// C[M][N] = AT^T B with AT[K][M], B[K][N]; 128x128x16 tiles, 256 threads, 8x8 per thread, cp.async double buffering.
__device__ __forceinline__ void copy16(unsigned to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

extern "C" __global__ void __launch_bounds__(256, 2)
sgemm(const float* __restrict__ at, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(128) float as[2][16][128];
  __shared__ __align__(128) float bs[2][16][128];
  const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
  const int row = tid / 32, col = (tid % 32) * 4;
  const float* ga = at + (long long)row * m + blockIdx.y * 128 + col;
  const float* gb = b + (long long)row * n + blockIdx.x * 128 + col;
  const unsigned sa = (unsigned)__cvta_generic_to_shared(&as[0][row][col]);
  const unsigned sb = (unsigned)__cvta_generic_to_shared(&bs[0][row][col]);

  float acc[8][8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) acc[i][j] = 0.f;

  const int tiles = k / 16;
  copy16(sa, ga);
  copy16(sa + 8 * 512, ga + 8 * m);
  copy16(sb, gb);
  copy16(sb + 8 * 512, gb + 8 * n);
  asm volatile("cp.async.commit_group;" ::: "memory");

#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) {
      const unsigned off = ((t + 1) & 1) * 8192;
      ga += 16 * m;
      gb += 16 * n;
      copy16(sa + off, ga);
      copy16(sa + off + 8 * 512, ga + 8 * m);
      copy16(sb + off, gb);
      copy16(sb + off + 8 * 512, gb + 8 * n);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    const int s = t & 1;
#pragma unroll
    for (int kk = 0; kk < 16; ++kk) {
      const float4 a0 = *(const float4*)&as[s][kk][ty * 8];
      const float4 a1 = *(const float4*)&as[s][kk][ty * 8 + 4];
      const float4 b0 = *(const float4*)&bs[s][kk][tx * 4];
      const float4 b1 = *(const float4*)&bs[s][kk][64 + tx * 4];
      const float av[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      const float bv[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) acc[i][j] = fmaf(av[i], bv[j], acc[i][j]);
    }
    __syncthreads();
  }

  float* out = c + (long long)(blockIdx.y * 128 + ty * 8) * n + blockIdx.x * 128 + tx * 4;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    *(float4*)(out + (long long)i * n) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
    *(float4*)(out + (long long)i * n + 64) = make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
  }
}
