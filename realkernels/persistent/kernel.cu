// A ring of STAGES tiles filled by cp.async, over a list of items of TILES_PER_ITEM tiles each. CTA b
// treats items b, b + gridDim.x, …: with as many CTAs as items that is one each; with as many as fit on
// the GPU the ring runs on from item to item. The same code either way.
//
// Compile-time constants (-D): those of tile.cuh, STAGES (2 or more), ISSUE_UNROLL (cp.async in a
// straight run), TILES_PER_ITEM.
#include "../_harness/mbarrier.cuh"
#include "../_harness/observer.cuh"
#include "../_harness/tile.cuh"

constexpr int FULL_BATCHES = WHOLE / ISSUE_UNROLL;
constexpr int REST = PER_THREAD - FULL_BATCHES * ISSUE_UNROLL;
#ifdef PROBE
constexpr int BLOCK_THREADS = COMPUTE_THREADS + 32;
#else
constexpr int BLOCK_THREADS = COMPUTE_THREADS;
#endif

// This thread's share of one tile; stage and source point at its first vector.
__device__ __forceinline__ void issue(unsigned int stage, const float4* source, int thread) {
  const auto copy = [&](int i, int) { cp_async_16(stage + 16 * i * COMPUTE_THREADS, source + i * COMPUTE_THREADS); };
#pragma unroll 1
  for (int k = 0; k < FULL_BATCHES; ++k) {
    for_vectors<ISSUE_UNROLL, false>(0, copy);
    stage += 16 * ISSUE_UNROLL * COMPUTE_THREADS;
    source += ISSUE_UNROLL * COMPUTE_THREADS;
  }
  for_vectors<REST, UNEVEN_VECTORS != 0>(thread + FULL_BATCHES * ISSUE_UNROLL * COMPUTE_THREADS, copy);
}

// All computing warps; in the instrumented build the observer does not take part.
__device__ __forceinline__ void meet() {
#ifdef PROBE
  asm volatile("bar.sync 1, %0;" ::"n"(COMPUTE_THREADS) : "memory");
#else
  __syncthreads();
#endif
}

// out[item * WARPS + warp] = sum over the warp.
__device__ __forceinline__ void write_item(float4 sum, int thread, int item, float* out) {
  float total = (sum.x + sum.y) + (sum.z + sum.w);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) total += __shfl_down_sync(~0u, total, distance);
  if (thread % 32 == 0) out[item * WARPS + thread / 32] = total;
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, 1)
tile_kernel(const float4* __restrict__ in, float* __restrict__ out, int items, float a, float b PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 ring[];
  const int thread = opaque_thread();
  const Affine affine(a, b);
  const int grid = opaque((int)gridDim.x);
  const int tiles = (items - 1 - (int)blockIdx.x + grid) / grid * TILES_PER_ITEM;
  const float4* source = in + (long long)blockIdx.x * TILES_PER_ITEM * VECTORS + thread;
  const long long jump = (long long)(grid - 1) * TILES_PER_ITEM * VECTORS;   // over the items of other CTAs
  int item = blockIdx.x;
  const unsigned int base = opaque((int)shared_address(ring));
  const unsigned int own = base + 16 * thread;   // this thread's first vector of stage 0
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  int left = TILES_PER_ITEM, left_ahead = TILES_PER_ITEM;   // of the item computed on, and of that asked for

  PROBE_BEGIN(worker_lane(thread / 32))
  PROBE_ENTER(PROBE_SETUP, -1, 0);
#ifdef PROBE
  const bool observes = thread >= COMPUTE_THREADS;
  const int last = watched_word(thread);
  const auto word = [&](int stage) { return last < 0 ? NOWHERE : base + stage * TILE_BYTES + last; };
  if (observes) prepare_words<STAGES>(word);
  __syncthreads();
  if (observes) {
    observe_words<STAGES>(probe, tiles, word);
    PROBE_LEAVE();
    return;
  }
#endif

  const auto next_source = [&]() {
    source += VECTORS;
    if (--left_ahead == 0) source += jump, left_ahead = TILES_PER_ITEM;
  };
#pragma unroll 1
  for (int t = 0; t < STAGES - 1; ++t) {
    PROBE_ENTER(PROBE_ISSUE, t, t);
    if (t < tiles) {
      PROBE_ONLY(announce(word(t)));
      issue(own + t * TILE_BYTES, source, thread);
    }
    cp_async_commit();
    next_source();
  }
  // Stages are held as addresses: with numbers the compiler multiplies again inside the vector loop.
  unsigned int read = base, write = base + (STAGES - 1) * TILE_BYTES;
  const unsigned int end = opaque((int)(base + STAGES * TILE_BYTES));
  PROBE_ONLY(int read_stage = 0; int write_stage = STAGES - 1;)
  for (int t = 0; t < tiles; ++t) {
    PROBE_ENTER(PROBE_WAIT_COPY, t, read_stage);
    cp_async_wait<STAGES - 2>();
    PROBE_ENTER(PROBE_BARRIER, t, read_stage);
    meet();
    PROBE_MET();
    // The stage written now held tile t - 1, which all warps have left behind at the barrier.
    if (t + STAGES - 1 < tiles) {
      PROBE_ENTER(PROBE_ISSUE, t + STAGES - 1, write_stage);
      PROBE_ONLY(announce(word(write_stage)));
      issue(write + 16 * thread, source, thread);
      next_source();
    }
    cp_async_commit();
    PROBE_ENTER(PROBE_COMPUTE, t, read_stage);
    consume(read, thread, affine, sum);
    write = read;
    read += TILE_BYTES;
    if (read == end) read = base;
    PROBE_ONLY(write_stage = read_stage; if (++read_stage == STAGES) read_stage = 0;)
    if (--left == 0) {
      write_item(sum, thread, item, out);
      item += grid;
      sum = make_float4(0.f, 0.f, 0.f, 0.f);
      left = TILES_PER_ITEM;
    }
  }
  PROBE_LEAVE();
}
