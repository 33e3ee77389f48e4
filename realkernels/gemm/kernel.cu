// C = A B on the tensor cores: a producer warp asks for bulk copies into a ring of STAGES stages, WARPS / 4 warpgroups
// multiply what is there with wgmma (TF32, sums in FP32), each 64 rows of the CTA's tile of C with all its columns.
//
// A and B lie packed: tile after tile of `tiles` along k, each as core matrices of 8 rows of 16 bytes, first along the
// rows and then along k, so that a tile is one contiguous copy and wgmma reads it without a swizzle.
//
// Compile-time constants (-D): those of tile.cuh (WARPS: multiplying warps, TILE_BYTES: of a stage), STAGES, UNDER_WAY
// (groups of products under way behind a wait), GRID_M (CTAs along the rows), WGMMA_N (columns of a tile), WGMMA_TYPE and
// WGMMA_BITS.
#include "../_harness/mbarrier.cuh"
#include "../_harness/observer.cuh"
#include "../_harness/tile.cuh"
#include "../_harness/wgmma.cuh"

#ifdef PROBE
constexpr int BLOCK_THREADS = COMPUTE_THREADS + 32 + 32;
#else
constexpr int BLOCK_THREADS = COMPUTE_THREADS + 32;
#endif

constexpr int ROW_BYTES = 128;                    // of a row of a tile
constexpr int TILE_M = 64 * WARPS / 4;
constexpr int A_BYTES = TILE_M * ROW_BYTES;
constexpr int B_BYTES = WGMMA_N * ROW_BYTES;
constexpr int PRODUCTS = ROW_BYTES / 32;          // of a stage
static_assert(A_BYTES + B_BYTES == TILE_BYTES, "a stage holds a tile of each operand");

// What a warpgroup multiplies: its rows of the tile of A, all columns of that of B.
__device__ __forceinline__ void multiply(float (&sum)[WGMMA_ACCUMULATORS], unsigned int stage, int group, int add) {
  const unsigned long long a = wgmma_descriptor(stage + 1024 * group, 16 * TILE_M, 128);
  const unsigned long long b = wgmma_descriptor(stage + A_BYTES, 16 * WGMMA_N, 128);
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < PRODUCTS; ++i)
    wgmma(sum, a + i * (2 * 16 * TILE_M >> 4), b + i * (2 * 16 * WGMMA_N >> 4), i || add);
  wgmma_commit();
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS PROBE_RESIDENT)
tile_kernel(const char* __restrict__ in, float* __restrict__ out, int tiles, float, float PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 ring[];
  const unsigned int base = shared_address(ring);
  const unsigned int full = base + STAGES * TILE_BYTES;
  const unsigned int empty = full + 8 * STAGES;
  const int warp = threadIdx.x / 32;
  const int tile_m = blockIdx.x % GRID_M, tile_n = blockIdx.x / GRID_M;

  PROBE_BEGIN(warp == WARPS ? PRODUCER_LANE : warp > WARPS ? worker_lane(WARPS) : worker_lane(warp))
  PROBE_ENTER(PROBE_SETUP, -1, 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier_init(full + 8 * s, 1);
      mbarrier_init(empty + 8 * s, WARPS);
    }
    mbarrier_fence_init();
  }
  __syncthreads();

  if (warp == WARPS) {
    if (threadIdx.x % 32 == 0) {
      PROBE_ALONE()
      const char* a = in + (long long)tile_m * tiles * A_BYTES;
      const char* b = in + (long long)GRID_M * tiles * A_BYTES + (long long)tile_n * tiles * B_BYTES;
      int stage = 0, parity = 1;   // a fresh barrier counts as released
      for (int t = 0; t < tiles; ++t) {
        PROBE_ENTER(PROBE_WAIT_FREE, t, stage);
        mbarrier_wait(empty + 8 * stage, parity);
        PROBE_ENTER(PROBE_ISSUE, t, stage);
        const unsigned int to = base + stage * TILE_BYTES;
        mbarrier_arrive_expect_tx(full + 8 * stage, TILE_BYTES);
        bulk_copy(to, a, A_BYTES, full + 8 * stage);
        bulk_copy(to + A_BYTES, b, B_BYTES, full + 8 * stage);
        a += A_BYTES;
        b += B_BYTES;
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

  const int group = warp / 4, lane = threadIdx.x % 32;
  float sum[WGMMA_ACCUMULATORS];
  int stage = 0, parity = 0, last = 0;
  for (int t = 0; t < tiles; ++t) {
    PROBE_ENTER(PROBE_WAIT_STAGE, t, stage);
    mbarrier_wait(full + 8 * stage, parity);
    PROBE_ENTER(PROBE_COMPUTE, t, stage);
    multiply(sum, base + stage * TILE_BYTES, group, t);
    wgmma_wait<UNDER_WAY>();
    // Of the stage whose products are complete: this one, or the one before.
    if (lane == 0 && (UNDER_WAY == 0 || t)) mbarrier_arrive(empty + 8 * (UNDER_WAY ? last : stage));
    last = stage;
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
  wgmma_wait<0>();
  PROBE_LEAVE();

  const long long columns = (long long)gridDim.x / GRID_M * WGMMA_N;
  const long long row = (long long)tile_m * TILE_M + 16 * warp + lane / 4;
  float2* to = (float2*)(out + row * columns + (long long)tile_n * WGMMA_N + 2 * (lane % 4));
#pragma unroll
  for (int j = 0; j < WGMMA_N / 8; ++j) {
    to[4 * j] = make_float2(sum[4 * j], sum[4 * j + 1]);
    to[4 * j + 4 * columns] = make_float2(sum[4 * j + 2], sum[4 * j + 3]);
  }
}
