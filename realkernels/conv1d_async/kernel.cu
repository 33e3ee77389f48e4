// A 1-D convolution, one tile per CTA: the tile is copied to shared memory, the POINTS weights are loaded, all
// meet, and each thread computes OUTPUTS outputs. ASYNCHRONOUS: the tile comes by cp.async while the weights are
// loaded; else it is loaded through registers, and the weights after it.
//
// The input begins with 32 floats of which the first POINTS are the weights; the signal follows.
// Shared memory: weights (32 floats), 16 floats before the tile, the tile, 16 floats after it.
//
// Compile-time constants (-D): those of tile.cuh, POINTS, VECTOR (bytes of one copy), TRUE_HALO, ASYNCHRONOUS.
#include "../_harness/mbarrier.cuh"
#include "../_harness/observer.cuh"
#include "../_harness/stores.cuh"
#include "../_harness/tile.cuh"

constexpr int TILE = TILE_BYTES / 4;
constexpr int RADIUS = POINTS / 2;
constexpr int OUTPUTS = TILE / COMPUTE_THREADS;          // of each thread
constexpr int COPIES = TILE_BYTES / VECTOR;              // copies in one tile
constexpr int LAST_WARP = (COPIES - 1) % COMPUTE_THREADS / 32;   // copies the end of the tile
constexpr int WEIGHT_FLOATS = 32, HALO_FLOATS = 16;      // room for them, so that the tile begins on a line
#if defined(PROBE) && ASYNCHRONOUS
constexpr int BLOCK_THREADS = COMPUTE_THREADS + 32;
#else
constexpr int BLOCK_THREADS = COMPUTE_THREADS;
#endif

static_assert(TILE % COMPUTE_THREADS == 0, "every thread has the same number of outputs");
static_assert(POINTS % 2 == 1 && POINTS < WEIGHT_FLOATS, "a centre and as many points on either side");

__device__ __forceinline__ float load_shared_float(unsigned int address) {
  float x;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(address));
  return x;
}

__device__ __forceinline__ void store_shared_float(unsigned int to, float x) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(x) : "memory");
}

// Past L1, so that every CTA sees the latency of L2.
__device__ __forceinline__ float load_global_float(const float* from) {
  float x;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(x) : "l"(from) : "memory");
  return x;
}

// VECTOR bytes on their way through registers.
struct Held {
  float4 x;

  __device__ __forceinline__ void load(const float* from) {
    if constexpr (VECTOR == 16)
      asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                   : "l"(from)
                   : "memory");
    else if constexpr (VECTOR == 8)
      asm volatile("ld.global.cg.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "l"(from) : "memory");
    else
      x.x = load_global_float(from);
  }

  __device__ __forceinline__ void store(unsigned int to) const {
    if constexpr (VECTOR == 16)
      store_shared(to, x);
    else if constexpr (VECTOR == 8)
      asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(x.x), "f"(x.y) : "memory");
    else
      store_shared_float(to, x.x);
  }
};

template <int BYTES>
__device__ __forceinline__ void cp_async(unsigned int to, const float* from) {
  if constexpr (BYTES == 16)
    cp_async_16(to, from);
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(BYTES) : "memory");
}

// Calls each(i) for this thread's copies; the first WHOLE_COPIES are those of all threads.
constexpr int WHOLE_COPIES = COPIES / COMPUTE_THREADS;
template <class Body>
__device__ __forceinline__ void for_copies(unsigned int thread, Body each) {
#pragma unroll
  for (int i = 0; i < WHOLE_COPIES; ++i) each(i);
  if constexpr (COPIES % COMPUTE_THREADS != 0)
    if ((int)thread < COPIES % COMPUTE_THREADS) each(WHOLE_COPIES);
}

// All computing warps; in the instrumented build the observer does not take part.
__device__ __forceinline__ void meet() {
  if constexpr (BLOCK_THREADS == COMPUTE_THREADS)
    __syncthreads();
  else
    asm volatile("bar.sync 1, %0;" ::"n"(COMPUTE_THREADS) : "memory");
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS PROBE_RESIDENT)
tile_kernel(const float* __restrict__ in, float* __restrict__ out, int floats, float, float PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 shared[];
  const unsigned int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const unsigned int weights = shared_address(shared);
  const unsigned int tile = weights + 4 * (WEIGHT_FLOATS + HALO_FLOATS);
  const unsigned int first = blockIdx.x * TILE;   // at most 2^28 floats: indices fit 32 bits
  const float* signal = in + WEIGHT_FLOATS;

  PROBE_BEGIN(warp == WARPS ? 2 : warp == 0 ? 0 : 3 + (int)warp)   // 2: the observer
  PROBE_ENTER(PROBE_SETUP, -1, 0);
#if defined(PROBE) && ASYNCHRONOUS
  // Each lane of the observer looks at one line, of which the last word is as late as any.
  constexpr int LINES = TILE_BYTES / 128;
  const bool observes = thread >= COMPUTE_THREADS;
  const auto word = [&](int) { return tile + 128 * (LINES < 32 ? min((int)lane, LINES - 1) : lane * LINES / 32) + 124; };
  if (observes) prepare_words<1>(word);
  __syncthreads();
  if (observes) {
    observe_words<1>(probe, 1, word);
    PROBE_LEAVE();
    return;
  }
#endif

  const float* source = signal + (first + VECTOR / 4 * thread);
  const unsigned int own = tile + VECTOR * thread;
#if ASYNCHRONOUS
  PROBE_ENTER(PROBE_ISSUE, 0, 0);
  for_copies(thread, [&](int i) {
    cp_async<VECTOR>(own + VECTOR * COMPUTE_THREADS * i, source + VECTOR / 4 * COMPUTE_THREADS * i);
  });
  if constexpr (TRUE_HALO) {
    if (warp == 0 && lane < RADIUS)
      cp_async<4>(tile - 4 * RADIUS + 4 * lane, signal + max((int)(first + lane) - RADIUS, 0));
    if (warp == LAST_WARP && lane < RADIUS)
      cp_async<4>(tile + TILE_BYTES + 4 * lane, signal + min((int)(first + lane) + TILE, floats - 1));
  }
  cp_async_commit();
  PROBE_ENTER(PROBE_LOAD, 0, 0);
  if (warp == 0) store_shared_float(weights + 4 * lane, load_global_float(in + lane));
  PROBE_ENTER(PROBE_WAIT_COPY, 0, 0);
  cp_async_wait<0>();
#else
  PROBE_ENTER(PROBE_LOAD, 0, 0);
  Held held[WHOLE_COPIES + 1];
  float left, right;
  for_copies(thread, [&](int i) { held[i].load(source + VECTOR / 4 * COMPUTE_THREADS * i); });
  if constexpr (TRUE_HALO) {
    if (warp == 0 && lane < RADIUS) left = load_global_float(signal + max((int)(first + lane) - RADIUS, 0));
    if (warp == LAST_WARP && lane < RADIUS)
      right = load_global_float(signal + min((int)(first + lane) + TILE, floats - 1));
  }
  for_copies(thread, [&](int i) { held[i].store(own + VECTOR * COMPUTE_THREADS * i); });
  if constexpr (TRUE_HALO) {
    if (warp == 0 && lane < RADIUS) store_shared_float(tile - 4 * RADIUS + 4 * lane, left);
    if (warp == LAST_WARP && lane < RADIUS) store_shared_float(tile + TILE_BYTES + 4 * lane, right);
  }
#endif
  if constexpr (!TRUE_HALO) {
    // The warps that copied the tile's ends repeat them; their own copies are all they wait for.
    __syncwarp();
    if (warp == 0 && lane < RADIUS) store_shared_float(tile - 4 * RADIUS + 4 * lane, load_shared_float(tile));
    if (warp == LAST_WARP && lane < RADIUS)
      store_shared_float(tile + TILE_BYTES + 4 * lane, load_shared_float(tile + TILE_BYTES - 4));
  }
#if !ASYNCHRONOUS
  PROBE_ENTER(PROBE_BARRIER, 0, 0);
  meet();
  PROBE_MET();
  PROBE_ENTER(PROBE_LOAD, 0, 0);
  if (warp == 0) store_shared_float(weights + 4 * lane, load_global_float(in + lane));
#endif
  PROBE_ENTER(PROBE_BARRIER, 0, 0);
  meet();
  PROBE_MET();

  PROBE_ENTER(PROBE_COMPUTE, 0, 0);
  float weight[POINTS + 3];
#pragma unroll
  for (int i = 0; i < (POINTS + 3) / 4; ++i) {
    const float4 four = load_shared(weights + 16 * i);
    weight[4 * i] = four.x;
    if (4 * i + 1 < POINTS) weight[4 * i + 1] = four.y;
    if (4 * i + 2 < POINTS) weight[4 * i + 2] = four.z;
    if (4 * i + 3 < POINTS) weight[4 * i + 3] = four.w;
  }
  float* target = out + (first + thread);
  unsigned int at = tile - 4 * RADIUS + 4 * thread;
  const unsigned int end = at + TILE_BYTES;
#pragma unroll 1
  do {
    float sum = 0.f;
#pragma unroll
    for (int j = 0; j < POINTS; ++j) sum = fmaf(load_shared_float(at + 4 * j), weight[j], sum);
    *target = sum;
    target += COMPUTE_THREADS;
    at += 4 * COMPUTE_THREADS;
  } while (OUTPUTS > 1 && at < end);
  PROBE_LEAVE();
}
