// Kernels of the everyday kind whose CTAs work together in clusters, through each other's shared memory.

typedef unsigned int u32;

__device__ __forceinline__ u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// The address that `pointer` of this CTA has in CTA `rank` of its cluster.
__device__ __forceinline__ u32 in_cta(const void* pointer, u32 rank) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((u32)__cvta_generic_to_shared(pointer)), "r"(rank));
  return there;
}

__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
}

__device__ __forceinline__ float4 load_in_cluster(u32 address) {
  float4 x;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "r"(address));
  return x;
}

__device__ __forceinline__ void store_in_cluster(u32 address, float4 x) {
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w)
               : "memory");
}

__device__ __forceinline__ void store_in_cluster(u32 address, float x) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(x) : "memory");
}

// Root mean squares of rows of 16384 floats, a quarter of each in the registers of each of four CTAs.
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256)
long_rows(const float4* in, float4* out, int rows) {
  __shared__ float part[8], all[2][4];
  const u32 rank = cluster_rank(), t = threadIdx.x;
  int n = 0;
  for (int row = blockIdx.x / 4; row < rows; row += gridDim.x / 4, ++n) {
    const float4* from = in + (long long)row * 4096 + rank * 1024 + t;
    float4 x[4];
    float s = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = from[256 * i];
#pragma unroll
    for (int i = 0; i < 4; ++i) s += x[i].x * x[i].x + x[i].y * x[i].y + x[i].z * x[i].z + x[i].w * x[i].w;
#pragma unroll
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    if (t % 32 == 0) part[t / 32] = s;
    __syncthreads();
    if (t < 4) {
      float sum = 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) sum += part[i];
      store_in_cluster(in_cta(&all[n & 1][rank], t), sum);
    }
    cluster_sync();
    const float* sums = all[n & 1];
    const float scale = rsqrtf((sums[0] + sums[1] + sums[2] + sums[3]) / 16384.f + 1e-5f);
    float4* to = out + (long long)row * 4096 + rank * 1024 + t;
#pragma unroll
    for (int i = 0; i < 4; ++i) to[256 * i] = make_float4(x[i].x * scale, x[i].y * scale, x[i].z * scale, x[i].w * scale);
  }
  cluster_sync();
}

// Each of eight CTAs has 32 KiB of partial sums, and adds up its eighth of all.
extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(256) reduce_scatter(float4* out, int rounds) {
  extern __shared__ float4 mine[];
  const u32 rank = cluster_rank(), t = threadIdx.x;
  for (int i = 0; i < 8; ++i) mine[256 * i + t] = make_float4(t, i, rank, 1);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int r = 0; r < rounds; ++r) {
    cluster_sync();
    float4 x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = load_in_cluster(in_cta(&mine[256 * rank + t], (rank + i) % 8));
#pragma unroll
    for (int i = 0; i < 8; ++i) sum.x += x[i].x, sum.y += x[i].y, sum.z += x[i].z, sum.w += x[i].w;
    cluster_sync();
    mine[256 * (r % 8) + t] = sum;
  }
  out[blockIdx.x * 256 + t] = sum;
  cluster_sync();
}

// Each of four CTAs writes 4 KiB to each other one, and adds up what came.
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(256) all_to_all(float4* out, int rounds) {
  extern __shared__ float4 mine[];
  const u32 rank = cluster_rank(), t = threadIdx.x;
  float4 x = make_float4(t, rank, 1, 2);
  cluster_sync();
  for (int r = 0; r < rounds; ++r) {
    float4* half = mine + (r & 1) * 1024;
#pragma unroll
    for (int i = 1; i < 4; ++i) store_in_cluster(in_cta(&half[256 * rank + t], (rank + i) % 4), x);
    cluster_sync();
#pragma unroll
    for (int i = 1; i < 4; ++i) {
      const float4 y = half[256 * ((rank + i) % 4) + t];
      x.x += y.x, x.y += y.y, x.z += y.z, x.w += y.w;
    }
  }
  out[blockIdx.x * 256 + t] = x;
  cluster_sync();
}

// A stencil of three points on 4096 floats of each of eight CTAs, whose first and last go to the neighbours.
extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(512) halo(float* out, int rounds) {
  extern __shared__ float both[];
  constexpr int LENGTH = 4098;
  const u32 rank = cluster_rank(), t = threadIdx.x;
  for (int i = t; i < LENGTH; i += 512) both[i] = i * 0.001f, both[LENGTH + i] = 0;
  cluster_sync();
  for (int r = 0; r < rounds; ++r) {
    const float* from = both + (r & 1) * LENGTH;
    float* to = both + (1 - (r & 1)) * LENGTH;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int k = 1 + t + 512 * i;
      to[k] = 0.25f * from[k - 1] + 0.5f * from[k] + 0.25f * from[k + 1];
    }
    __syncthreads();
    if (t == 0) store_in_cluster(in_cta(&to[LENGTH - 1], (rank + 7) % 8), to[1]);
    if (t == 32) store_in_cluster(in_cta(&to[0], (rank + 1) % 8), to[LENGTH - 2]);
    cluster_sync();
  }
  for (int i = t; i < LENGTH - 2; i += 512) out[blockIdx.x * (LENGTH - 2) + i] = both[(rounds & 1) * LENGTH + i + 1];
  cluster_sync();
}
