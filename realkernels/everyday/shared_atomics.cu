// Kernels of the everyday kind that count and add up in shared memory, by atomics.

typedef unsigned int u32;

// How often each byte occurs: a set of 256 counters per CTA, added up at the end.
extern "C" __global__ void __launch_bounds__(256)
byte_histogram(const uint4* __restrict__ in, int vectors, u32* __restrict__ out) {
  __shared__ u32 bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < vectors; i += gridDim.x * 256) {
    const uint4 v = in[i];
    const u32 w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      atomicAdd(&bins[w[k] & 255], 1u);
      atomicAdd(&bins[(w[k] >> 8) & 255], 1u);
      atomicAdd(&bins[(w[k] >> 16) & 255], 1u);
      atomicAdd(&bins[w[k] >> 24], 1u);
    }
  }
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// Sums of weights by key, of which there are `bins`.
extern "C" __global__ void __launch_bounds__(512)
weighted_histogram(const int* __restrict__ key, const float* __restrict__ weight, int n, int bins, float* __restrict__ out) {
  extern __shared__ float sums[];
#pragma unroll 1
  for (int i = threadIdx.x; i < bins; i += 512) sums[i] = 0.f;
  __syncthreads();
#pragma unroll 1
  for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512) {
    const int k = key[i];
    const float w = weight[i];
    atomicAdd(&sums[k], w);
  }
  __syncthreads();
#pragma unroll 1
  for (int i = threadIdx.x; i < bins; i += 512) atomicAdd(&out[i], sums[i]);
}

// How often each digit of eight bits occurs in each tile of 4096 keys: a pass of a radix sort.
extern "C" __global__ void __launch_bounds__(256)
digit_counts(const uint4* __restrict__ keys, int tiles, int shift, u32* __restrict__ counts) {
  __shared__ u32 c[256];
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    c[threadIdx.x] = 0;
    __syncthreads();
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = keys[(long long)t * 1024 + k * 256 + threadIdx.x];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      atomicAdd(&c[(v[k].x >> shift) & 255], 1u);
      atomicAdd(&c[(v[k].y >> shift) & 255], 1u);
      atomicAdd(&c[(v[k].z >> shift) & 255], 1u);
      atomicAdd(&c[(v[k].w >> shift) & 255], 1u);
    }
    __syncthreads();
    counts[(long long)t * 256 + threadIdx.x] = c[threadIdx.x];
  }
}

// Sums of four coordinates of the points of each centroid, and their numbers: a step of k-means.
extern "C" __global__ void __launch_bounds__(256)
cluster_sums(const float4* __restrict__ points, const int* __restrict__ of, int n, int centroids, float* __restrict__ sums,
             int* __restrict__ counts) {
  extern __shared__ float s[];
  int* c = (int*)(s + 4 * centroids);
#pragma unroll 1
  for (int i = threadIdx.x; i < 5 * centroids; i += 256) s[i] = 0.f;
  __syncthreads();
#pragma unroll 1
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const float4 p = points[i];
    const int k = of[i];
    atomicAdd(&s[k], p.x);
    atomicAdd(&s[k + centroids], p.y);
    atomicAdd(&s[k + 2 * centroids], p.z);
    atomicAdd(&s[k + 3 * centroids], p.w);
    atomicAdd(&c[k], 1);
  }
  __syncthreads();
#pragma unroll 1
  for (int i = threadIdx.x; i < 4 * centroids; i += 256) atomicAdd(&sums[i], s[i]);
#pragma unroll 1
  for (int i = threadIdx.x; i < centroids; i += 256) atomicAdd(&counts[i], c[i]);
}
