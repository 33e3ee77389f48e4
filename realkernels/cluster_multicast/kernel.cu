// As tma_warp_specialized, but the CTAs of a cluster work on the same tiles. With MULTICAST each of them asks for an
// equal part of a tile, which all get, and consumers give a stage back to the producers of all; without it each asks for
// the whole tile.
//
// Compile-time constants (-D): those of tile.cuh (WARPS: consumers), STAGES, CLUSTER, MULTICAST.
#include "../_harness/cluster.cuh"
#include "../_harness/observer.cuh"
#include "../_harness/tile.cuh"

#ifdef PROBE
constexpr int BLOCK_THREADS = 32 + COMPUTE_THREADS + 32;
#else
constexpr int BLOCK_THREADS = 32 + COMPUTE_THREADS;
#endif
constexpr int AMONG = MULTICAST ? CLUSTER : 1;
constexpr int PART_BYTES = TILE_BYTES / AMONG;

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(BLOCK_THREADS PROBE_RESIDENT)
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
      mbarrier_init(empty + 8 * s, WARPS * AMONG);
    }
    mbarrier_fence_init();
  }
  cluster_sync();

  if (warp == 0) {
    if (threadIdx.x == 0) {
      PROBE_ALONE()
      const unsigned int offset = MULTICAST ? cluster_rank() * PART_BYTES : 0;
      const char* source = (const char*)(in + (long long)(blockIdx.x / CLUSTER) * VECTORS) + offset;
      const long long stride = (long long)(gridDim.x / CLUSTER) * TILE_BYTES;
      int stage = 0, parity = 1;   // a fresh barrier counts as released
      for (int t = 0; t < tiles; ++t) {
        PROBE_ENTER(PROBE_WAIT_FREE, t, stage);
        mbarrier_wait(empty + 8 * stage, parity);
        PROBE_ENTER(PROBE_ISSUE, t, stage);
        mbarrier_arrive_expect_tx(full + 8 * stage, TILE_BYTES);
        const unsigned int to = base + stage * TILE_BYTES + offset;
        if (MULTICAST) bulk_copy_multicast(to, source, PART_BYTES, full + 8 * stage, CLUSTER);
        else bulk_copy(to, source, PART_BYTES, full + 8 * stage);
        source += stride;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      PROBE_LEAVE();
    }
    __syncwarp();
    cluster_sync();
    return;
  }
#ifdef PROBE
  if (warp > WARPS) {
    observe(probe, full, tiles, STAGES);
    PROBE_LEAVE();
    cluster_sync();
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
    if (MULTICAST) {
      if (thread % 32 < CLUSTER) mbarrier_arrive_in(empty + 8 * stage, thread % 32);
    } else if (thread % 32 == 0) {
      mbarrier_arrive(empty + 8 * stage);
    }
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
  PROBE_LEAVE();
  write_partial(sum, thread, out);
  // Others may still arrive here.
  cluster_sync();
}
