// Level 0: nothing overlaps inside a CTA. All warps copy a tile through registers into shared
// memory, meet, compute on it, and meet again before it is overwritten.
//
// Compile-time constants (-D): those of tile.cuh, BATCH (loads in flight per thread).
#include "../_harness/tile.cuh"

constexpr int FULL_BATCHES = WHOLE / BATCH;
constexpr int REST = PER_THREAD - FULL_BATCHES * BATCH;

__device__ __forceinline__ float4 load_global(const float4* from) {
  float4 x;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(from) : "memory");
  return x;
}

__device__ __forceinline__ void store_shared(unsigned int to, float4 x) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w) : "memory");
}

// COUNT loads in flight per thread, then as many stores. The warp barriers are there for the
// compiler alone, which otherwise stores the first values before it has issued the last loads,
// or issues loads of the next batch before these stores; the hardware sees a NOP each.
template <int COUNT, bool GUARD_LAST>
__device__ __forceinline__ void copy_batch(unsigned int to, const float4* from, int first) {
  float4 held[COUNT > 0 ? COUNT : 1];
  for_vectors<COUNT, GUARD_LAST>(first, [&](int i, int) { held[i] = load_global(from + i * COMPUTE_THREADS); });
  __syncwarp();
  for_vectors<COUNT, GUARD_LAST>(first, [&](int i, int) { store_shared(to + 16 * i * COMPUTE_THREADS, held[i]); });
  __syncwarp();
}

extern "C" __global__ void __launch_bounds__(COMPUTE_THREADS PROBE_RESIDENT)
tile_kernel(const float4* __restrict__ in, float* __restrict__ out, int tiles, float a, float b PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 shared[];
  const unsigned int tile = opaque((int)shared_address(shared));
  const int thread = opaque_thread();
  const Affine affine(a, b);
  const float4* source = in + (long long)blockIdx.x * VECTORS + thread;   // this thread's first vector
  const long long stride = (long long)opaque((int)gridDim.x) * VECTORS;
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  PROBE_BEGIN(worker_lane(thread / 32))

  for (int t = 0; t < tiles; ++t) {
    PROBE_ENTER(PROBE_LOAD, t, 0);
    unsigned int to = tile + 16 * thread;
    const float4* from = source;
#pragma unroll 1
    for (int k = 0; k < FULL_BATCHES; ++k) {
      copy_batch<BATCH, false>(to, from, 0);
      to += 16 * BATCH * COMPUTE_THREADS;
      from += BATCH * COMPUTE_THREADS;
    }
    if constexpr (REST > 0)
      copy_batch<REST, UNEVEN_VECTORS != 0>(to, from, thread + FULL_BATCHES * BATCH * COMPUTE_THREADS);
    source += stride;
    PROBE_ENTER(PROBE_BARRIER, t, 0);
    __syncthreads();
    PROBE_MET();
    PROBE_ENTER(PROBE_COMPUTE, t, 0);
    consume(tile, thread, affine, sum);
    PROBE_ENTER(PROBE_BARRIER, t, 0);
    __syncthreads();
    PROBE_MET();
  }
  PROBE_LEAVE();
  write_partial(sum, thread, out);
}
