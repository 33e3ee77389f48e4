// Attention forward on the tensor cores, one head of HEAD numbers at a time: O = softmax(Q K^T / sqrt(HEAD)) V in FP16
// with FP32 sums. A producer warp asks for bulk copies of keys and of values into a ring of each; every warpgroup has 64
// queries, whose scores, maxima and sums stay in registers (online softmax), and which are the first operand of the
// products with the values from there.
//
// A turn asks for the scores of a tile of keys, then for the products of the tile before with its values, and makes
// probabilities of the scores while these products are under way (UNDER_WAY 1) or after them (0). With PING_PONG two
// warpgroups take turns to ask for products, so that one multiplies while the other one has exponentials.
//
// All operands lie packed, tile by tile: core matrices of 8 rows of 16 bytes, first along the rows and then along what
// is summed up over, which for the values are the keys (they lie transposed).
//
// Compile-time constants (-D): WARPS (multiplying warps), HEAD, KEYS (of a tile) (64 or 128), STAGES (of each ring),
// UNDER_WAY, PING_PONG, QUERY_TILES (CTAs of a head, next to each other in the grid), TILE_BYTES (keys and values),
// MIN_CTAS, PRODUCER_REGISTERS and CONSUMER_REGISTERS (of a thread, behind setmaxnreg).
#include "../_harness/mbarrier.cuh"
#include "../_harness/observer.cuh"
#include "../_harness/tile.cuh"
#include "products.cuh"

constexpr int PRODUCER_THREADS = 128;             // a warpgroup, of which one thread works
constexpr int BLOCK_THREADS = PRODUCER_THREADS + COMPUTE_THREADS;

constexpr int GROUPS = WARPS / 4;
constexpr int QUERIES = 64 * GROUPS;              // of a CTA
constexpr int QUERY_BYTES = 2 * QUERIES * HEAD;
constexpr int KEY_BYTES = 2 * KEYS * HEAD;        // of a tile of keys, and of one of values
static_assert(2 * KEY_BYTES == TILE_BYTES, "a tile is keys and values");

constexpr float LOWEST = -3e38f;   // a score below any

// The unnormalised output of a warpgroup's queries, and of two of them (rows lane / 4 and 8 more) maximum and sum.
struct Rows {
  float out[HEAD / 2];
  float top[2] = {LOWEST, LOWEST};
  float sum[2] = {0.0f, 0.0f};
};

__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ unsigned int halves(float low, float high) {
  unsigned int packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

// The larger of `value` over the four lanes that share a row.
__device__ __forceinline__ float row_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(~0u, value, 1));
  return fmaxf(value, __shfl_xor_sync(~0u, value, 2));
}

__device__ __forceinline__ float row_sum(float value) {
  value += __shfl_xor_sync(~0u, value, 1);
  return value + __shfl_xor_sync(~0u, value, 2);
}

// Scores to powers of two below the row's maximum so far, which the row is told; `shrink` is for what was summed before.
__device__ __forceinline__ void exponentials(float (&score)[KEYS / 2], Rows& rows, float scale, float (&shrink)[2]) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float top = score[2 * r];
#pragma unroll
    for (int j = 0; j < KEYS / 8; ++j) top = fmaxf(top, fmaxf(score[4 * j + 2 * r], score[4 * j + 2 * r + 1]));
    top = fmaxf(rows.top[r], row_max(top));
    shrink[r] = exp2_fast((rows.top[r] - top) * scale);
    rows.top[r] = top;
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < KEYS / 8; ++j) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        float& x = score[4 * j + 2 * r + i];
        x = exp2_fast(fmaf(x, scale, -top * scale));
        sum += x;
      }
    }
    rows.sum[r] = fmaf(rows.sum[r], shrink[r], sum);
  }
}

__device__ __forceinline__ void rescale(Rows& rows, const float (&shrink)[2]) {
#pragma unroll
  for (int j = 0; j < HEAD / 8; ++j) {
    rows.out[4 * j] *= shrink[0];
    rows.out[4 * j + 1] *= shrink[0];
    rows.out[4 * j + 2] *= shrink[1];
    rows.out[4 * j + 3] *= shrink[1];
  }
}

// What the tensor cores leave of 16 keys is what they take as a first operand.
__device__ __forceinline__ void to_halves(const float (&score)[KEYS / 2], unsigned int (&first)[KEYS / 16][4]) {
#pragma unroll
  for (int k = 0; k < KEYS / 16; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) first[k][i] = halves(score[8 * k + 2 * i], score[8 * k + 2 * i + 1]);
  }
}

__device__ __forceinline__ void ask_scores(float (&score)[KEYS / 2], unsigned int queries, unsigned int keys) {
  const unsigned long long a = wgmma_descriptor(queries, 16 * QUERIES, 128);
  const unsigned long long b = wgmma_descriptor(keys, 16 * KEYS, 128);
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < HEAD / 16; ++i)
    product(score, a + i * (2 * 16 * QUERIES >> 4), b + i * (2 * 16 * KEYS >> 4), i);
  wgmma_commit();
}

__device__ __forceinline__ void ask_output(float (&out)[HEAD / 2], const unsigned int (&first)[KEYS / 16][4],
                                           unsigned int values) {
  const unsigned long long b = wgmma_descriptor(values, 16 * HEAD, 128);
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < KEYS / 16; ++i) product(out, first[i], b + i * (2 * 16 * HEAD >> 4));
  wgmma_commit();
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, MIN_CTAS)
tile_kernel(const char* __restrict__ in, float* __restrict__ out, int tiles, float, float PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 shared[];
  const unsigned int queries = shared_address(shared);
  const unsigned int keys = queries + QUERY_BYTES;
  const unsigned int values = keys + STAGES * KEY_BYTES;
  const unsigned int barriers = values + STAGES * KEY_BYTES;
  const unsigned int keys_full = barriers, keys_empty = barriers + 8 * STAGES;
  const unsigned int values_full = barriers + 16 * STAGES, values_empty = barriers + 24 * STAGES;
  const unsigned int queries_full = barriers + 32 * STAGES;
  const int warp = threadIdx.x / 32 - PRODUCER_THREADS / 32;   // of the multiplying ones

  PROBE_BEGIN(warp == -4 ? PRODUCER_LANE : warp == -3 ? worker_lane(WARPS) : warp < 0 ? -1 : worker_lane(warp))
  PROBE_ENTER(PROBE_SETUP, -1, 0);
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      mbarrier_init(keys_full + 8 * s, 1);
      mbarrier_init(keys_empty + 8 * s, WARPS);
      mbarrier_init(values_full + 8 * s, 1);
      mbarrier_init(values_empty + 8 * s, WARPS);
    }
    mbarrier_init(queries_full, 1);
    mbarrier_fence_init();
  }
  __syncthreads();

  if (warp < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
    if (threadIdx.x == 0) {
      PROBE_ALONE()
      const long long heads = gridDim.x / QUERY_TILES, head = blockIdx.x / QUERY_TILES;
      const char* key = in + heads * QUERY_TILES * QUERY_BYTES + head * tiles * KEY_BYTES;
      const char* value = key + heads * tiles * KEY_BYTES;
      mbarrier_arrive_expect_tx(queries_full, QUERY_BYTES);
      bulk_copy(queries, in + (long long)blockIdx.x * QUERY_BYTES, QUERY_BYTES, queries_full);
      int stage = 0, parity = 1;   // a fresh barrier counts as released
      for (int t = 0; t < tiles; ++t) {
        PROBE_ENTER(PROBE_WAIT_FREE, t, stage);
        mbarrier_wait(keys_empty + 8 * stage, parity);
        PROBE_ENTER(PROBE_ISSUE, t, stage);
        mbarrier_arrive_expect_tx(keys_full + 8 * stage, KEY_BYTES);
        bulk_copy(keys + stage * KEY_BYTES, key, KEY_BYTES, keys_full + 8 * stage);
        PROBE_ENTER(PROBE_WAIT_FREE, t, stage);
        mbarrier_wait(values_empty + 8 * stage, parity);
        PROBE_ENTER(PROBE_ISSUE, t, stage);
        mbarrier_arrive_expect_tx(values_full + 8 * stage, KEY_BYTES);
        bulk_copy(values + stage * KEY_BYTES, value, KEY_BYTES, values_full + 8 * stage);
        key += KEY_BYTES;
        value += KEY_BYTES;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      PROBE_LEAVE();
    }
#ifdef PROBE
    // An idle warp observes; one more would leave fewer registers to each thread.
    if (warp == -3) {
      observe(probe, keys_full, tiles, STAGES);
      PROBE_LEAVE();
    }
#endif
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
  const int group = warp / 4, lane = threadIdx.x % 32;
  const float scale = 1.44269504f / sqrtf((float)HEAD);
  const unsigned int mine = queries + 1024 * group;
  Rows rows;
#pragma unroll
  for (int j = 0; j < HEAD / 2; ++j) rows.out[j] = 0.0f;
  float score[KEYS / 2], shrink[2];
  unsigned int first[KEYS / 16][4];   // probabilities
  if (PING_PONG && group == 1) turn_over<2 * 128>(1);   // the other one is first
  mbarrier_wait(queries_full, 0);
  PROBE_ENTER(PROBE_WAIT_STAGE, 0, 0);
  mbarrier_wait(keys_full, 0);
  PROBE_ENTER(PROBE_COMPUTE, 0, 0);
  if (PING_PONG) wait_turn<2 * 128>(1 + group);
  ask_scores(score, mine, keys);
  if (PING_PONG) turn_over<2 * 128>(2 - group);
  wgmma_wait<0>();
  if (lane == 0) mbarrier_arrive(keys_empty);
  exponentials(score, rows, scale, shrink);
  to_halves(score, first);
  int last = 0, last_parity = 0, stage = STAGES > 1, parity = STAGES == 1;
  for (int t = 1; t < tiles; ++t) {
    PROBE_ENTER(PROBE_WAIT_STAGE, t, stage);
    mbarrier_wait(keys_full + 8 * stage, parity);
    PROBE_ENTER(PROBE_COMPUTE, t, stage);
    if (PING_PONG) wait_turn<2 * 128>(1 + group);
    ask_scores(score, mine, keys + stage * KEY_BYTES);
    mbarrier_wait(values_full + 8 * last, last_parity);
    ask_output(rows.out, first, values + last * KEY_BYTES);
    if (PING_PONG) turn_over<2 * 128>(2 - group);
    wgmma_wait<UNDER_WAY>();
    if (lane == 0) mbarrier_arrive(keys_empty + 8 * stage);
    exponentials(score, rows, scale, shrink);
    // Never true. It keeps the exponentials in front of the wait, behind which the compiler would move them.
    if (UNDER_WAY && fminf(rows.sum[0], rows.sum[1]) < 0.0f) mbarrier_arrive(queries_full);
    wgmma_wait<0>();
    if (lane == 0) mbarrier_arrive(values_empty + 8 * last);
    rescale(rows, shrink);
    to_halves(score, first);
    last = stage;
    last_parity = parity;
    if (++stage == STAGES) stage = 0, parity ^= 1;
  }
  mbarrier_wait(values_full + 8 * last, last_parity);
  ask_output(rows.out, first, values + last * KEY_BYTES);
  if (PING_PONG && group == 0) wait_turn<2 * 128>(1);   // what the other one says last
  wgmma_wait<0>();
  PROBE_LEAVE();

  const float by[2] = {1.0f / row_sum(rows.sum[0]), 1.0f / row_sum(rows.sum[1])};
  const long long row = (long long)blockIdx.x * QUERIES + 16 * warp + lane / 4;
  float2* to = (float2*)(out + row * HEAD + 2 * (lane % 4));
#pragma unroll
  for (int j = 0; j < HEAD / 8; ++j) {
    to[4 * j] = make_float2(rows.out[4 * j] * by[0], rows.out[4 * j + 1] * by[0]);
    to[4 * j + 4 * HEAD] = make_float2(rows.out[4 * j + 2] * by[1], rows.out[4 * j + 3] * by[1]);
  }
}
