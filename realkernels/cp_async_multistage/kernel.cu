// A ring of STAGES tiles filled by cp.async: every warp issues its share of a copy STAGES - 1
// tiles ahead, waits for its own older copies, meets the others, and computes.
//
// Compile-time constants (-D): those of tile.cuh, STAGES, ISSUE_UNROLL (cp.async in a straight run).
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

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS PROBE_RESIDENT)
tile_kernel(const float4* __restrict__ in, float* __restrict__ out, int tiles, float a, float b PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 ring[];
  const int thread = opaque_thread();
  const Affine affine(a, b);
  const float4* source = in + (long long)blockIdx.x * VECTORS + thread;
  const long long stride = (long long)opaque((int)gridDim.x) * VECTORS;
  const unsigned int base = opaque((int)shared_address(ring));
  const unsigned int own = base + 16 * thread;   // this thread's first vector of stage 0
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);

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

  if constexpr (STAGES == 1) {
    for (int t = 0; t < tiles; ++t) {
      PROBE_ENTER(PROBE_ISSUE, t, 0);
      PROBE_ONLY(announce(word(0)));
      issue(own, source, thread);
      cp_async_commit();
      source += stride;
      PROBE_ENTER(PROBE_WAIT_COPY, t, 0);
      cp_async_wait<0>();
      PROBE_ENTER(PROBE_BARRIER, t, 0);
      meet();
      PROBE_MET();
      PROBE_ENTER(PROBE_COMPUTE, t, 0);
      consume(base, thread, affine, sum);
      PROBE_ENTER(PROBE_BARRIER, t, 0);
      meet();
      PROBE_MET();
    }
  } else {
#pragma unroll 1
    for (int t = 0; t < STAGES - 1; ++t) {
      PROBE_ENTER(PROBE_ISSUE, t, t);
      if (t < tiles) {
        PROBE_ONLY(announce(word(t)));
        issue(own + t * TILE_BYTES, source, thread);
      }
      cp_async_commit();
      source += stride;
    }
    int read = 0, write = STAGES - 1;
    for (int t = 0; t < tiles; ++t) {
      PROBE_ENTER(PROBE_WAIT_COPY, t, read);
      cp_async_wait<STAGES - 2>();
      PROBE_ENTER(PROBE_BARRIER, t, read);
      meet();
      PROBE_MET();
      // The stage written now held tile t - 1, which all warps have left behind at the barrier.
      if (t + STAGES - 1 < tiles) {
        PROBE_ENTER(PROBE_ISSUE, t + STAGES - 1, write);
        PROBE_ONLY(announce(word(write)));
        issue(own + write * TILE_BYTES, source, thread);
        source += stride;
      }
      cp_async_commit();   // also an empty one, so that the number of newer groups stays STAGES - 2
      PROBE_ENTER(PROBE_COMPUTE, t, read);
      consume(base + read * TILE_BYTES, thread, affine, sum);
      write = read;
      if (++read == STAGES) read = 0;
    }
  }
  PROBE_LEAVE();
  write_partial(sum, thread, out);
}
