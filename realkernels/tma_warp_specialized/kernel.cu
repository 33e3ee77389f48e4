// One producer warp asks for bulk copies into a ring of STAGES tiles; WARPS consumer warps
// only compute. A full and an empty mbarrier per stage hand it back and forth.
//
// Compile-time constants (-D): those of tile.cuh (WARPS: consumers), STAGES.
#include "../_harness/mbarrier.cuh"
#include "../_harness/observer.cuh"
#include "../_harness/tile.cuh"

#ifdef PROBE
constexpr int BLOCK_THREADS = 32 + COMPUTE_THREADS + 32;
#else
constexpr int BLOCK_THREADS = 32 + COMPUTE_THREADS;
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS PROBE_RESIDENT)
tile_kernel(const float4* __restrict__ in, float* __restrict__ out, int tiles, float a, float b PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 ring[];
  const unsigned int base = shared_address(ring);
  const unsigned int full = base + STAGES * TILE_BYTES;
  const unsigned int empty = full + 8 * STAGES;
  const int warp = threadIdx.x / 32;

  PROBE_BEGIN(warp == 0 ? PRODUCER_LANE : worker_lane(warp - 1))
  PROBE_ENTER(PROBE_SETUP, -1, 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier_init(full + 8 * s, 1);
      mbarrier_init(empty + 8 * s, WARPS);
    }
    mbarrier_fence_init();
  }
  __syncthreads();

  if (warp == 0) {
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
    return;
  }
#ifdef PROBE
  if (warp > WARPS) {
    observe(probe, full, tiles, STAGES);
    PROBE_LEAVE();
    return;
  }
#endif

  const int thread = opaque_thread() - 32;
  const Affine affine(a, b);
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  int stage = 0, parity = 0;
  for (int t = 0; t < tiles; ++t) {
    PROBE_ENTER(PROBE_WAIT_STAGE, t, stage);
    mbarrier_wait(full + 8 * stage, parity);
    PROBE_ENTER(PROBE_COMPUTE, t, stage);
    consume(base + stage * TILE_BYTES, thread, affine, sum);
    __syncwarp();
    if (thread % 32 == 0) mbarrier_arrive(empty + 8 * stage);
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
  PROBE_LEAVE();
  write_partial(sum, thread, out);
}
