// Software double buffering: while the warps compute on a tile in shared memory, the next one is
// on its way into their registers. Then they meet, write it to shared memory, and meet again.
//
// Compile-time constants (-D): those of tile.cuh.
#include "../_harness/stores.cuh"
#include "../_harness/tile.cuh"

__device__ __forceinline__ float4 load_global(const float4* from) {
  float4 x;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(from) : "memory");
  return x;
}

#ifdef PROBE
// Ends when all loads have arrived: it looks at every value. Inputs are never negative.
__device__ __forceinline__ bool arrived(const float4 (&held)[PER_THREAD], int thread) {
  bool negative = false;
  for_vectors<PER_THREAD, UNEVEN_VECTORS != 0>(thread, [&](int i, int) { negative |= held[i].x < 0.f; });
  return !__any_sync(~0u, negative);
}
#endif

extern "C" __global__ void __launch_bounds__(COMPUTE_THREADS, 1)
tile_kernel(const float4* __restrict__ in, float* __restrict__ out, int tiles, float a, float b PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 shared[];
  const unsigned int tile = opaque((int)shared_address(shared));
  const int thread = opaque_thread();
  const Affine affine(a, b);
  const float4* source = in + (long long)blockIdx.x * VECTORS + thread;   // this thread's first vector
  const long long stride = (long long)opaque((int)gridDim.x) * VECTORS;
  const unsigned int own = tile + 16 * thread;
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  float4 held[PER_THREAD];
  PROBE_BEGIN(worker_lane(thread / 32))

  const auto prefetch = [&]() {
    for_vectors<PER_THREAD, UNEVEN_VECTORS != 0>(
        thread, [&](int i, int) { held[i] = load_global(source + i * COMPUTE_THREADS); });
    source += stride;
  };

  PROBE_ENTER(PROBE_ISSUE, 0, 0);
  prefetch();
  for (int t = 0; t < tiles; ++t) {
    PROBE_ENTER(PROBE_WAIT_COPY, t, 0);
    PROBE_ONLY(if (!arrived(held, thread)) ++probe.dropped);
    PROBE_ENTER(PROBE_STORE, t, 0);
    for_vectors<PER_THREAD, UNEVEN_VECTORS != 0>(
        thread, [&](int i, int) { store_shared(own + 16 * i * COMPUTE_THREADS, held[i]); });
    PROBE_ENTER(PROBE_BARRIER, t, 0);
    __syncthreads();
    PROBE_MET();
    if (t + 1 < tiles) {
      PROBE_ENTER(PROBE_ISSUE, t + 1, 0);
      prefetch();
    }
    PROBE_ENTER(PROBE_COMPUTE, t, 0);
    consume(tile, thread, affine, sum);
    PROBE_ENTER(PROBE_BARRIER, t, 0);
    __syncthreads();
    PROBE_MET();
  }
  PROBE_LEAVE();
  write_partial(sum, thread, out);
}
