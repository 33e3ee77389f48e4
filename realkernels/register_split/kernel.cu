// One warpgroup asks for bulk copies into a ring of STAGES tiles, WARPS consumer warps compute, each thread with
// ACCUMULATORS running sums in registers. Without setmaxnreg every thread of the CTA has the registers that MIN_CTAS
// resident CTAs leave, and what does not fit is spilled to local memory; with it the producers give theirs away.
//
// Compile-time constants (-D): those of tile.cuh (WARPS: consumers), STAGES, ACCUMULATORS, MIN_CTAS,
// PRODUCER_REGISTERS and CONSUMER_REGISTERS (both 0: no split).
#include "../_harness/mbarrier.cuh"
#include "../_harness/observer.cuh"
#include "../_harness/tile.cuh"

static_assert(WARPS % 4 == 0, "setmaxnreg is for whole warpgroups");
static_assert(ACCUMULATORS % 4 == 0, "one sum for each component of a float4");

constexpr int PRODUCER_THREADS = 128;   // a warpgroup, of which one thread works
constexpr int BLOCK_THREADS = PRODUCER_THREADS + COMPUTE_THREADS;

template <int COUNT>
__device__ __forceinline__ void give_registers() {
  if constexpr (COUNT > 0) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT>
__device__ __forceinline__ void take_registers() {
  if constexpr (COUNT > 0) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// Every sum weighs the tile differently, as an output of a matrix product does; launch.py knows the sum of the weights.
struct Sums {
  float of[ACCUMULATORS];

  __device__ __forceinline__ Sums() {
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; ++i) of[i] = 0.f;
  }

  __device__ __forceinline__ void add(const float4& x) {
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i += 4) {
      const float weight = 1.f + i / 256.f;
      of[i] = fmaf(x.x, weight, of[i]);
      of[i + 1] = fmaf(x.y, weight, of[i + 1]);
      of[i + 2] = fmaf(x.z, weight, of[i + 2]);
      of[i + 3] = fmaf(x.w, weight, of[i + 3]);
    }
  }

  __device__ __forceinline__ float4 total() const {
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i += 4) sum.x += of[i], sum.y += of[i + 1], sum.z += of[i + 2], sum.w += of[i + 3];
    return sum;
  }
};

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, MIN_CTAS)
tile_kernel(const float4* __restrict__ in, float* __restrict__ out, int tiles, float a, float b PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 ring[];
  const unsigned int base = shared_address(ring);
  const unsigned int full = base + STAGES * TILE_BYTES;
  const unsigned int empty = full + 8 * STAGES;
  const int warp = threadIdx.x / 32;

  PROBE_BEGIN(warp == 0 ? PRODUCER_LANE : warp == 1 ? worker_lane(WARPS) : warp < 4 ? -1 : worker_lane(warp - 4))
  PROBE_ENTER(PROBE_SETUP, -1, 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier_init(full + 8 * s, 1);
      mbarrier_init(empty + 8 * s, WARPS);
    }
    mbarrier_fence_init();
  }
  __syncthreads();

  if (warp < 4) {
    give_registers<PRODUCER_REGISTERS>();
    if (threadIdx.x == 0) {
      PROBE_ALONE()
      const float4* source = in + (long long)blockIdx.x * VECTORS;
      const long long stride = (long long)gridDim.x * VECTORS;
      int stage = 0, parity = 1;   // a fresh barrier counts as released
      for (int t = 0; t < tiles; ++t) {
        PROBE_ENTER(PROBE_WAIT_FREE, t, stage);
        mbarrier_wait(empty + 8 * stage, parity);
        PROBE_ENTER(PROBE_ISSUE, t, stage);
        mbarrier_arrive_expect_tx(full + 8 * stage, TILE_BYTES);
        bulk_copy(base + stage * TILE_BYTES, source, TILE_BYTES, full + 8 * stage);
        source += stride;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      PROBE_LEAVE();
    }
#ifdef PROBE
    // An idle warp observes; one more would leave fewer registers to each thread.
    if (warp == 1) {
      observe(probe, full, tiles, STAGES);
      PROBE_LEAVE();
    }
#endif
  } else {
    take_registers<CONSUMER_REGISTERS>();
    const int thread = opaque_thread() - PRODUCER_THREADS;
    const Affine affine(a, b);
    Sums sums;
    int stage = 0, parity = 0;
    for (int t = 0; t < tiles; ++t) {
      PROBE_ENTER(PROBE_WAIT_STAGE, t, stage);
      mbarrier_wait(full + 8 * stage, parity);
      PROBE_ENTER(PROBE_COMPUTE, t, stage);
      const unsigned int tile = base + stage * TILE_BYTES;
      unsigned int end = tile + TILE_BYTES;
      asm volatile("" : "+r"(end));   // short of registers the compiler would compute it again for each vector
#pragma unroll 1
      for (unsigned int at = tile + 16 * thread; at < end; at += 16 * COMPUTE_THREADS) {
        float4 x = load_shared(at);
        affine.apply(x);
        sums.add(x);
      }
      __syncwarp();
      if (thread % 32 == 0) mbarrier_arrive(empty + 8 * stage);
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    PROBE_LEAVE();
    write_partial(sums.total(), thread, out);
  }
}
