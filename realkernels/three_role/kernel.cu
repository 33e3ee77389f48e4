// Loader, compute, storer: one warp asks for bulk copies into the input ring, WARPS warps compute
// from there into the output ring, one warp asks for bulk copies out of it. Two pipelines, each
// with a full and an empty mbarrier per stage.
//
// Compile-time constants (-D): those of tile.cuh (WARPS: computing warps), INPUT_STAGES, OUTPUT_STAGES.
#include "../_harness/mbarrier.cuh"
#include "../_harness/observer.cuh"
#include "../_harness/stores.cuh"
#include "../_harness/tile.cuh"

#ifdef PROBE
constexpr int BLOCK_THREADS = 64 + COMPUTE_THREADS + 32;
constexpr int STORER_LANE = 1;
#else
constexpr int BLOCK_THREADS = 64 + COMPUTE_THREADS;
#endif

// The next stage of a ring, and the parity of its phase.
template <int STAGES>
__device__ __forceinline__ void advance(int& stage, int& parity) {
  if (++stage == STAGES) stage = 0, parity ^= 1;
}

// One thread's share of a tile, from its stage of one ring to its stage of the other.
__device__ __forceinline__ void transform(unsigned int from, unsigned int to, int thread, const Affine& affine) {
  const unsigned int end = from + TILE_BYTES;
  to += 16 * thread;
  asm volatile("" : "+r"(to));   // with one stage each the compiler would make one address of both
#pragma unroll 1
  for (unsigned int at = from + 16 * thread; at < end; at += 16 * COMPUTE_THREADS) {
    float4 x = load_shared(at);
    affine.apply(x);
    store_shared(to, x);
    to += 16 * COMPUTE_THREADS;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS PROBE_RESIDENT)
tile_kernel(const float4* __restrict__ in, float4* __restrict__ out, int tiles, float a, float b PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 rings[];
  const unsigned int input = shared_address(rings);
  const unsigned int output = input + INPUT_STAGES * TILE_BYTES;
  const unsigned int input_full = output + OUTPUT_STAGES * TILE_BYTES;
  const unsigned int input_empty = input_full + 8 * INPUT_STAGES;
  const unsigned int output_full = input_empty + 8 * INPUT_STAGES;
  const unsigned int output_empty = output_full + 8 * OUTPUT_STAGES;
  const int warp = threadIdx.x / 32;

  // The storer has the lane of a tail, whose first warp has the last one.
  PROBE_BEGIN(warp == 0   ? PRODUCER_LANE
              : warp == 1 ? STORER_LANE
              : worker_lane(warp - 2) == STORER_LANE ? PROBE_LANES_PER_CTA - 1 : worker_lane(warp - 2))
  PROBE_ENTER(PROBE_SETUP, -1, 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < INPUT_STAGES; ++s) {
      mbarrier_init(input_full + 8 * s, 1);
      mbarrier_init(input_empty + 8 * s, WARPS);
    }
    for (int s = 0; s < OUTPUT_STAGES; ++s) {
      mbarrier_init(output_full + 8 * s, WARPS);
      mbarrier_init(output_empty + 8 * s, 1);
    }
    mbarrier_fence_init();
  }
  __syncthreads();

  const long long first = (long long)blockIdx.x * VECTORS;
  const long long stride = (long long)gridDim.x * VECTORS;
  if (warp == 0) {
    if (threadIdx.x == 0) {
      PROBE_ALONE()
      const float4* source = in + first;
      int stage = 0, parity = 1;   // a fresh barrier counts as released
      for (int t = 0; t < tiles; ++t) {
        PROBE_ENTER(PROBE_WAIT_FREE, t, stage);
        mbarrier_wait(input_empty + 8 * stage, parity);
        PROBE_ENTER(PROBE_ISSUE, t, stage);
        mbarrier_arrive_expect_tx(input_full + 8 * stage, TILE_BYTES);
        bulk_copy(input + stage * TILE_BYTES, source, TILE_BYTES, input_full + 8 * stage);
        source += stride;
        advance<INPUT_STAGES>(stage, parity);
      }
      PROBE_LEAVE();
    }
    return;
  }
  if (warp == 1) {
    if (threadIdx.x == 32) {
      PROBE_ALONE()
      float4* target = out + first;
      int stage = 0, parity = 0;
      for (int t = 0; t < tiles; ++t) {
        PROBE_ENTER(PROBE_WAIT_STAGE, t, stage);
        mbarrier_wait(output_full + 8 * stage, parity);
        PROBE_ENTER(PROBE_ISSUE, t, stage);
        bulk_store(target, output + stage * TILE_BYTES, TILE_BYTES);
        PROBE_ENTER(PROBE_WAIT_DRAIN, t, stage);
        bulk_store_wait_read<0>();
        mbarrier_arrive(output_empty + 8 * stage);
        target += stride;
        advance<OUTPUT_STAGES>(stage, parity);
      }
      PROBE_LEAVE();
    }
    return;
  }
#ifdef PROBE
  if (warp >= 2 + WARPS) {
    observe(probe, input_full, tiles, INPUT_STAGES);
    PROBE_LEAVE();
    return;
  }
#endif

  const int thread = opaque_thread() - 64;
  const Affine affine(a, b);
  int from = 0, from_parity = 0, to = 0, to_parity = 1;
  for (int t = 0; t < tiles; ++t) {
    PROBE_ENTER(PROBE_WAIT_STAGE, t, from);
    mbarrier_wait(input_full + 8 * from, from_parity);
    PROBE_ENTER(PROBE_WAIT_FREE, t, to);
    mbarrier_wait(output_empty + 8 * to, to_parity);
    PROBE_ENTER(PROBE_COMPUTE, t, from);
    transform(input + from * TILE_BYTES, output + to * TILE_BYTES, thread, affine);
    fence_async_shared();
    __syncwarp();
    if (thread % 32 == 0) {
      mbarrier_arrive(input_empty + 8 * from);
      mbarrier_arrive(output_full + 8 * to);
    }
    advance<INPUT_STAGES>(from, from_parity);
    advance<OUTPUT_STAGES>(to, to_parity);
  }
  PROBE_LEAVE();
}
