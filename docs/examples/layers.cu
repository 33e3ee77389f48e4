// One layer of a chain: y = W x for a vector x that the kernel ahead has written, as in decoding token by token. The
// weights need nothing of that kernel, so the first of them are asked for before the wait for it.
// nvcc -arch=sm_90a -cubin layers.cu
#ifndef STAGES
#define STAGES 6
#endif
constexpr int K = 4096, THREADS = 256, ROW = K * 4;

__device__ __forceinline__ unsigned smem(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void ask(float* to, const float* from, unsigned long long* full) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem(full)), "r"(ROW) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem(to)),
               "l"(from), "r"(ROW), "r"(smem(full))
               : "memory");
}

__device__ __forceinline__ void wait(unsigned long long* full, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra again;\n}" ::"r"(
          smem(full)),
      "r"(parity)
      : "memory");
}

// Each CTA has `rows` rows of W, one after the other.
extern "C" __global__ void __launch_bounds__(THREADS) layer(const float* w, const float* x, float* y, int rows) {
  extern __shared__ __align__(128) float ring[];
  __shared__ __align__(8) unsigned long long full[STAGES];
  __shared__ float part[2][THREADS / 32];
  const int t = threadIdx.x;
  const float* mine = w + (size_t)blockIdx.x * rows * K;
  if (t == 0) {
    for (int s = 0; s < STAGES; ++s)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(smem(full + s)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int s = 0; s < STAGES && s < rows; ++s) ask(ring + s * K, mine + (size_t)s * K, full + s);
  }
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  float4 v[K / THREADS / 4];
#pragma unroll
  for (int i = 0; i < K / THREADS / 4; ++i) v[i] = __ldcg(reinterpret_cast<const float4*>(x) + i * THREADS + t);
  __syncthreads();
  for (int row = 0; row < rows; ++row) {
    const int stage = row % STAGES;
    wait(full + stage, row / STAGES & 1);
    const float4* tile = reinterpret_cast<const float4*>(ring + stage * K);
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < K / THREADS / 4; ++i) {
      const float4 a = tile[i * THREADS + t];
      sum += a.x * v[i].x + a.y * v[i].y + a.z * v[i].z + a.w * v[i].w;
    }
#pragma unroll
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (t % 32 == 0) part[row & 1][t / 32] = sum;
    __syncthreads();
    if (t == 0) {
      if (row + STAGES < rows) ask(ring + stage * K, mine + (size_t)(row + STAGES) * K, full + stage);
      float all = 0.f;
#pragma unroll
      for (int i = 0; i < THREADS / 32; ++i) all += part[row & 1][i];
      y[blockIdx.x * rows + row] = all;
    }
  }
}
