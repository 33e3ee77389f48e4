// As tma_warp_specialized, but the CTAs of a cluster work on the same tiles. With MULTICAST each of them asks for an
// equal part of a tile, which all get, and consumers give a stage back to the producers of all; without it each asks for
// the whole tile. With PEERS each asks for an equal part and keeps it, a warp of its own tells all when it is there, and
// consumers load the parts from each other's shared memory.
//
// Compile-time constants (-D): those of tile.cuh (WARPS: consumers), STAGES, CLUSTER, MULTICAST, PEERS.
#include "../_harness/cluster.cuh"
#include "../_harness/observer.cuh"
#include "../_harness/tile.cuh"

constexpr int RELAY_WARP = 1 + WARPS, OBSERVER_WARP = RELAY_WARP + PEERS;
#ifdef PROBE
constexpr int BLOCK_THREADS = 32 * (OBSERVER_WARP + 1);
#else
constexpr int BLOCK_THREADS = 32 * OBSERVER_WARP;
#endif
constexpr int AMONG = MULTICAST || PEERS ? CLUSTER : 1;
constexpr int PART_BYTES = TILE_BYTES / AMONG;
constexpr int STAGE_BYTES = PEERS ? PART_BYTES : TILE_BYTES;

#if PEERS
constexpr int PART_VECTORS = PART_BYTES / 16;
constexpr int AHEAD = 4;   // loads of a thread under way at once

// As consume(), from the shared memory of all CTAs of the cluster; each begins with its own part, so that they do not all
// want the same CTA's at once. `stage`: where the part of each lies.
__device__ __forceinline__ void consume_in_cluster(unsigned int stage, unsigned int rank, int thread,
                                                   const Affine& affine, float4& sum) {
#pragma unroll 1
  for (int first = thread; first < VECTORS; first += AHEAD * COMPUTE_THREADS) {
    float4 x[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const int v = first + i * COMPUTE_THREADS, part = v / PART_VECTORS;
      if (v < VECTORS) x[i] = load_in_cluster(in_cta(stage + 16 * (v - part * PART_VECTORS), (rank + part) % CLUSTER));
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      if (first + i * COMPUTE_THREADS >= VECTORS) break;
      affine.apply(x[i]);
      sum.x += x[i].x;
      sum.y += x[i].y;
      sum.z += x[i].z;
      sum.w += x[i].w;
    }
  }
}
#endif

#ifdef PROBE
// The lane of a warp in a recording; the one that tells the others has none.
__device__ __forceinline__ int lane_of(int warp) {
  if (warp == 0) return PRODUCER_LANE;
  if (warp == OBSERVER_WARP) return worker_lane(WARPS);
  return PEERS && warp == RELAY_WARP ? -1 : worker_lane(warp - 1);
}
#endif

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(BLOCK_THREADS PROBE_RESIDENT)
tile_kernel(const float4* __restrict__ in, float* __restrict__ out, int tiles, float a, float b PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 ring[];
  const unsigned int base = shared_address(ring);
  const unsigned int full = base + STAGES * STAGE_BYTES;
  const unsigned int empty = full + 8 * STAGES;
  const unsigned int ready = PEERS ? empty + 8 * STAGES : full;   // what consumers wait for
  const int warp = threadIdx.x / 32;

  PROBE_BEGIN(lane_of(warp))
  PROBE_ENTER(PROBE_SETUP, -1, 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier_init(full + 8 * s, 1);
      mbarrier_init(empty + 8 * s, WARPS * AMONG);
      if (PEERS) mbarrier_init(ready + 8 * s, CLUSTER);
    }
    mbarrier_fence_init();
  }
  cluster_sync();

#if PEERS
  if (warp == RELAY_WARP) {
    int stage = 0, parity = 0;
    for (int t = 0; t < tiles; ++t) {
      mbarrier_wait(full + 8 * stage, parity);
      __syncwarp();
      if (threadIdx.x % 32 < CLUSTER) mbarrier_arrive_in(ready + 8 * stage, threadIdx.x % 32);
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    cluster_sync();
    return;
  }
#endif
  if (warp == 0) {
    if (threadIdx.x == 0) {
      PROBE_ALONE()
      const unsigned int offset = AMONG > 1 ? cluster_rank() * PART_BYTES : 0;
      const char* source = (const char*)(in + (long long)(blockIdx.x / CLUSTER) * VECTORS) + offset;
      const long long stride = (long long)(gridDim.x / CLUSTER) * TILE_BYTES;
      int stage = 0, parity = 1;   // a fresh barrier counts as released
      for (int t = 0; t < tiles; ++t) {
        PROBE_ENTER(PROBE_WAIT_FREE, t, stage);
        mbarrier_wait(empty + 8 * stage, parity);
        PROBE_ENTER(PROBE_ISSUE, t, stage);
        mbarrier_arrive_expect_tx(full + 8 * stage, STAGE_BYTES);
        const unsigned int to = base + stage * STAGE_BYTES + (MULTICAST ? offset : 0);
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
  if (warp == OBSERVER_WARP) {
    observe(probe, full, tiles, STAGES);
    PROBE_LEAVE();
    cluster_sync();
    return;
  }
#endif

  const int thread = opaque_thread() - 32;
  const Affine affine(a, b);
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#if PEERS
  const unsigned int rank = cluster_rank();
#endif
  int stage = 0, parity = 0;
  for (int t = 0; t < tiles; ++t) {
    PROBE_ENTER(PROBE_WAIT_STAGE, t, stage);
    mbarrier_wait(ready + 8 * stage, parity);
    PROBE_ENTER(PROBE_COMPUTE, t, stage);
#if PEERS
    consume_in_cluster(base + stage * STAGE_BYTES, rank, thread, affine, sum);
#else
    consume(base + stage * STAGE_BYTES, thread, affine, sum);
#endif
    __syncwarp();
    if (AMONG > 1) {
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
