// A star-shaped stencil of radius RADIUS. Each CTA owns a strip of TILE_BYTES / 4 columns and walks down its rows. A
// ring in shared memory holds the 2 RADIUS + 1 rows that one row of outputs needs, and STAGES - 1 more that cp.async
// has been asked for; each row lies there with one vector of its neighbours' columns on either side.
//
// The field has a margin in global memory: MARGIN floats left and right, RADIUS rows above and below.
//
// Compile-time constants (-D): those of tile.cuh (TILE_BYTES: one row of a strip), RADIUS, STAGES, STRIPS (in a row).
#include "../_harness/mbarrier.cuh"
#include "../_harness/observer.cuh"
#include "../_harness/tile.cuh"

constexpr int ROWS = STAGES + 2 * RADIUS;                      // in the ring
constexpr unsigned int ROW_BYTES = TILE_BYTES + 32;            // of the ring: the strip's and a vector on either side
constexpr unsigned int RING_BYTES = ROWS * ROW_BYTES;
constexpr int AHEAD = 2 * RADIUS + STAGES - 1;                 // rows asked for before the first output
constexpr int STEP = 16 * COMPUTE_THREADS;                     // bytes from one vector of a thread to the next
constexpr int MARGIN = 32;                                     // a line, so that strips begin on one
constexpr int WIDTH = STRIPS * (TILE_BYTES / 4), PITCH = WIDTH + 2 * MARGIN;   // floats in a row of outputs, of inputs
constexpr int POINTS = 4 * RADIUS + 1;
#ifdef PROBE
constexpr int BLOCK_THREADS = COMPUTE_THREADS + 32;
#else
constexpr int BLOCK_THREADS = COMPUTE_THREADS;
#endif

static_assert(UNEVEN_VECTORS == 0, "every thread has the same number of vectors");
static_assert(RADIUS >= 1 && RADIUS <= 4, "the halo is one vector");

// Weight of point i: the centre, then left, right, above and below at distance 1, and so on. All differ, and sum to 1.
__device__ constexpr float weight(int i) { return (float)(i + 1) / (float)(POINTS * (POINTS + 1) / 2); }

// This thread's share of one row; source is its first vector there, halo leads from it to the halo's vector.
__device__ __forceinline__ void issue(unsigned int row, const float4* source, int thread, int halo) {
  for_vectors<WHOLE, false>(thread, [&](int i, int) {
    cp_async_16(row + 16 + 16 * thread + STEP * i, source + COMPUTE_THREADS * i);
  });
  if (thread < 2) cp_async_16(row + thread * (TILE_BYTES + 16), source + halo);
}

// Four neighbouring outputs; at: their column in each of the rows, of which the middle one has the centres.
__device__ __forceinline__ float4 star(const unsigned int (&at)[2 * RADIUS + 1]) {
  float4 rows[2 * RADIUS + 1];
#pragma unroll
  for (int k = 0; k <= 2 * RADIUS; ++k) rows[k] = load_shared(at[k]);
  const float4 before = load_shared(at[RADIUS] - 16), behind = load_shared(at[RADIUS] + 16);
  const float4 centre = rows[RADIUS];
  const float line[12] = {before.x, before.y, before.z, before.w, centre.x, centre.y,
                          centre.z, centre.w, behind.x, behind.y, behind.z, behind.w};
  float sum[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) sum[e] = line[4 + e] * weight(0);
#pragma unroll
  for (int k = 1; k <= RADIUS; ++k) {
    const float4 above = rows[RADIUS - k], below = rows[RADIUS + k];
    const float up[4] = {above.x, above.y, above.z, above.w}, down[4] = {below.x, below.y, below.z, below.w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      sum[e] = fmaf(line[4 + e - k], weight(4 * k - 3), sum[e]);
      sum[e] = fmaf(line[4 + e + k], weight(4 * k - 2), sum[e]);
      sum[e] = fmaf(up[e], weight(4 * k - 1), sum[e]);
      sum[e] = fmaf(down[e], weight(4 * k), sum[e]);
    }
  }
  return make_float4(sum[0], sum[1], sum[2], sum[3]);
}

// One row of outputs; first: this thread's column in the ring, read: offset there of the topmost row that is needed.
__device__ __forceinline__ void compute(unsigned int first, unsigned int read, const Affine& affine, float4* target) {
  unsigned int at[2 * RADIUS + 1];
#pragma unroll
  for (int k = 0; k <= 2 * RADIUS; ++k) {
    const unsigned int offset = read + k * ROW_BYTES;
    at[k] = first + min(offset, offset - RING_BYTES);   // beyond the ring, less its size: elsewhere that wraps
  }
  const unsigned int end = at[0] + TILE_BYTES;
#pragma unroll 1
  do {
    float4 x = star(at);
    affine.apply(x);
    *target = x;
    target += COMPUTE_THREADS;
#pragma unroll
    for (int k = 0; k <= 2 * RADIUS; ++k) at[k] += STEP;
  } while (WHOLE > 1 && at[0] < end);
}

// All computing warps; in the instrumented build the observer does not take part.
__device__ __forceinline__ void meet() {
#ifdef PROBE
  asm volatile("bar.sync 1, %0;" ::"n"(COMPUTE_THREADS) : "memory");
#else
  __syncthreads();
#endif
}

__device__ __forceinline__ void advance(unsigned int& offset) {
  offset += ROW_BYTES;
  if (offset == RING_BYTES) offset = 0;
}

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS PROBE_RESIDENT)
tile_kernel(const float4* __restrict__ in, float4* __restrict__ out, int tiles, float a, float b PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 ring[];
  const int thread = opaque_thread();
  const Affine affine(a, b);
  const long long strip = blockIdx.x % STRIPS, top = (long long)(blockIdx.x / STRIPS) * tiles;
  const float4* source = in + top * (PITCH / 4) + MARGIN / 4 + strip * VECTORS + thread;
  float4* target = out + top * (WIDTH / 4) + strip * VECTORS + thread;
  const unsigned int base = opaque((int)shared_address(ring));
  const unsigned int first = base + 16 + 16 * thread;
  const int halo = thread == 0 ? -1 : VECTORS - 1;
  const int rows = tiles + 2 * RADIUS;   // of inputs

  PROBE_BEGIN(worker_lane(thread / 32))
  PROBE_ENTER(PROBE_SETUP, -1, 0);
#ifdef PROBE
  const bool observes = thread >= COMPUTE_THREADS;
  const int last = watched_word(thread);
  const auto word = [&](int row) { return last < 0 ? NOWHERE : base + row * ROW_BYTES + 16 + last; };
  if (observes) prepare_words<ROWS>(word);
  __syncthreads();
  if (observes) {
    observe_words<ROWS>(probe, rows, word);
    PROBE_LEAVE();
    return;
  }
#endif

  unsigned int read = 0, write = 0;   // offsets in the ring
#pragma unroll 1
  for (int row = 0; row < AHEAD; ++row) {
    PROBE_ENTER(PROBE_ISSUE, row, row);
    if (row < rows) {
      PROBE_ONLY(announce(word(row)));
      issue(base + write, source, thread, halo);
    }
    cp_async_commit();
    source += PITCH / 4;
    advance(write);
  }
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    if constexpr (STAGES > 1) {
      PROBE_ENTER(PROBE_WAIT_COPY, t, t % ROWS);
      cp_async_wait<STAGES >= 2 ? STAGES - 2 : 0>();
      PROBE_ENTER(PROBE_BARRIER, t, t % ROWS);
      meet();
      PROBE_MET();
      // The row written now replaces row t - 1, which all warps have left behind at the barrier.
    }
    if (t + AHEAD < rows) {
      PROBE_ENTER(PROBE_ISSUE, t + AHEAD, (t + AHEAD) % ROWS);
      PROBE_ONLY(announce(word((t + AHEAD) % ROWS)));
      issue(base + write, source, thread, halo);
      source += PITCH / 4;
      advance(write);
    }
    cp_async_commit();   // also an empty one, so that the number of newer groups stays STAGES - 2
    if constexpr (STAGES == 1) {
      PROBE_ENTER(PROBE_WAIT_COPY, t, t % ROWS);
      cp_async_wait<0>();
      PROBE_ENTER(PROBE_BARRIER, t, t % ROWS);
      meet();
      PROBE_MET();
    }
    PROBE_ENTER(PROBE_COMPUTE, t, t % ROWS);
    compute(first, read, affine, target);
    target += WIDTH / 4;
    advance(read);
    if constexpr (STAGES == 1) {
      PROBE_ENTER(PROBE_BARRIER, t, t % ROWS);
      meet();
      PROBE_MET();
    }
  }
  PROBE_LEAVE();
}
