// C = A B^T on the tensor cores by instructions that a warp waits for: all warps fill a ring of STAGES stages by
// cp.async, meet, load fragments by ldmatrix and multiply them with mma.sync (FP16, sums in FP32).
//
// A (rows x k) and B (columns x k) lie in rows, k side by side. A stage holds TILE_M rows of A and TILE_N of B, DEPTH
// numbers of each, in rows of PITCH numbers, so that the eight rows of an ldmatrix lie in different banks.
//
// Compile-time constants (-D): WARPS, WARPS_M (of them along the rows), TILE_M, TILE_N, DEPTH, STAGES, GRID_M (CTAs along
// the rows).
#include "../_harness/mbarrier.cuh"
#include "../_harness/observer.cuh"

constexpr int THREADS = 32 * WARPS;
#ifdef PROBE
constexpr int BLOCK_THREADS = THREADS + 32;
#else
constexpr int BLOCK_THREADS = THREADS;
#endif

constexpr int PITCH = DEPTH + 8;
constexpr int ROW_BYTES = 2 * PITCH;
constexpr int STAGE_BYTES = (TILE_M + TILE_N) * ROW_BYTES;
constexpr int LANES = DEPTH / 8;                 // that copy a row, 16 bytes each
constexpr int ROWS_AT_ONCE = THREADS / LANES;
constexpr int WARPS_N = WARPS / WARPS_M;
constexpr int WARP_M = TILE_M / WARPS_M, WARP_N = TILE_N / WARPS_N;   // of the tile of C of one warp
constexpr int MMA_M = WARP_M / 16, MMA_N = WARP_N / 8;
static_assert(TILE_M % ROWS_AT_ONCE == 0 && TILE_N % ROWS_AT_ONCE == 0, "all threads copy equally many rows");
static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0, "a warp's tile is whole fragments");

__device__ __forceinline__ void ldmatrix_x4(unsigned int (&r)[4], unsigned int address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void mma(float (&c)[4], const unsigned int (&a)[4], unsigned int b0, unsigned int b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// This thread's vectors of a stage: its part of every ROWS_AT_ONCE-th row of A, then of B.
__device__ __forceinline__ void issue(unsigned int stage, const char* a, const char* b, long long row) {
#pragma unroll
  for (int i = 0; i < TILE_M / ROWS_AT_ONCE; ++i)
    cp_async_16(stage + i * ROWS_AT_ONCE * ROW_BYTES, (const float4*)(a + i * ROWS_AT_ONCE * row));
#pragma unroll
  for (int i = 0; i < TILE_N / ROWS_AT_ONCE; ++i)
    cp_async_16(stage + (TILE_M + i * ROWS_AT_ONCE) * ROW_BYTES, (const float4*)(b + i * ROWS_AT_ONCE * row));
}

// A warp's products with what is in a stage; `a` and `b` are where its lane's first rows lie.
__device__ __forceinline__ void multiply(float (&sum)[MMA_M][MMA_N][4], unsigned int a, unsigned int b) {
#pragma unroll
  for (int k = 0; k < DEPTH / 16; ++k) {
    unsigned int of_a[MMA_M][4], of_b[MMA_N / 2][4];
#pragma unroll
    for (int i = 0; i < MMA_M; ++i) ldmatrix_x4(of_a[i], a + 32 * k + i * 16 * ROW_BYTES);
#pragma unroll
    for (int j = 0; j < MMA_N / 2; ++j) ldmatrix_x4(of_b[j], b + 32 * k + j * 16 * ROW_BYTES);
#pragma unroll
    for (int i = 0; i < MMA_M; ++i)
#pragma unroll
      for (int j = 0; j < MMA_N; ++j) mma(sum[i][j], of_a[i], of_b[j / 2][j % 2 * 2], of_b[j / 2][j % 2 * 2 + 1]);
  }
}

// All multiplying warps; in the instrumented build the observer does not take part.
__device__ __forceinline__ void meet() {
#ifdef PROBE
  asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
#else
  __syncthreads();
#endif
}

#ifdef PROBE
// As `watched_word` of tile.cuh: 32 threads tell of the last vector that they copy, and a lane of the observer each looks
// there.
__device__ __forceinline__ int watched(int thread) {
  const bool observes = thread >= THREADS;
  if (!observes && (thread + 1) % WARPS != 0) return -1;
  const int told = observes ? (thread % 32 + 1) * WARPS - 1 : thread;
  return (TILE_M + TILE_N - ROWS_AT_ONCE + told / LANES) * ROW_BYTES + 16 * (told % LANES) + 12;
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_THREADS PROBE_RESIDENT)
tile_kernel(const char* __restrict__ in, float* __restrict__ out, int tiles, float, float PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 ring[];
  const unsigned int base = (unsigned int)__cvta_generic_to_shared(ring);
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const int tile_m = blockIdx.x % GRID_M, tile_n = blockIdx.x / GRID_M;
  const long long row = 2ll * DEPTH * tiles;   // bytes of a row of A or B
  const char* a = in + (tile_m * TILE_M + thread / LANES) * row + 16 * (thread % LANES);
  const char* b = in + ((long long)GRID_M * TILE_M + tile_n * TILE_N + thread / LANES) * row + 16 * (thread % LANES);
  const unsigned int own = base + thread / LANES * ROW_BYTES + 16 * (thread % LANES);

  PROBE_BEGIN(warp == WARPS ? 2 : warp == 0 ? 0 : 3 + warp)
  PROBE_ENTER(PROBE_SETUP, -1, 0);
#ifdef PROBE
  const bool observes = thread >= THREADS;
  const int last = watched(thread);
  const auto word = [&](int stage) { return last < 0 ? NOWHERE : base + stage * STAGE_BYTES + last; };
  if (observes) prepare_words<STAGES>(word);
  __syncthreads();
  if (observes) {
    observe_words<STAGES>(probe, tiles, word);
    PROBE_LEAVE();
    return;
  }
#endif

  const int warp_m = warp / WARPS_N, warp_n = warp % WARPS_N;
  // Rows of an ldmatrix: of A 16 rows at once and then further along k, of B the other way round, so that the two
  // registers of one product are next to each other.
  const unsigned int of_a = (warp_m * WARP_M + lane % 16) * ROW_BYTES + lane / 16 * 16;
  const unsigned int of_b = (TILE_M + warp_n * WARP_N + lane % 8 + lane / 16 * 8) * ROW_BYTES + lane / 8 % 2 * 16;
  float sum[MMA_M][MMA_N][4] = {};

  if constexpr (STAGES == 1) {
#pragma unroll 1
    for (int t = 0; t < tiles; ++t) {
      PROBE_ENTER(PROBE_ISSUE, t, 0);
      PROBE_ONLY(announce(word(0)));
      issue(own, a, b, row);
      cp_async_commit();
      a += 2 * DEPTH;
      b += 2 * DEPTH;
      PROBE_ENTER(PROBE_WAIT_COPY, t, 0);
      cp_async_wait<0>();
      PROBE_ENTER(PROBE_BARRIER, t, 0);
      meet();
      PROBE_MET();
      PROBE_ENTER(PROBE_COMPUTE, t, 0);
      multiply(sum, base + of_a, base + of_b);
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
        issue(own + t * STAGE_BYTES, a, b, row);
      }
      cp_async_commit();
      a += 2 * DEPTH;
      b += 2 * DEPTH;
    }
    int read = 0, write = STAGES - 1;
#pragma unroll 1
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
        issue(own + write * STAGE_BYTES, a, b, row);
        a += 2 * DEPTH;
        b += 2 * DEPTH;
      }
      cp_async_commit();   // also an empty one, so that the number of newer groups stays STAGES - 2
      PROBE_ENTER(PROBE_COMPUTE, t, read);
      const unsigned int stage = base + read * STAGE_BYTES;
      multiply(sum, stage + of_a, stage + of_b);
      write = read;
      if (++read == STAGES) read = 0;
    }
  }
  PROBE_LEAVE();

  const int columns = gridDim.x / GRID_M * TILE_N;
  float* c = out + (long long)(tile_m * TILE_M + warp_m * WARP_M + lane / 4) * columns + tile_n * TILE_N
             + warp_n * WARP_N + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < MMA_M; ++i)
#pragma unroll
    for (int j = 0; j < MMA_N; ++j) {
      float* at = c + (long long)(16 * i) * columns + 8 * j;
      *(float2*)at = make_float2(sum[i][j][0], sum[i][j][1]);
      *(float2*)(at + 8ll * columns) = make_float2(sum[i][j][2], sum[i][j][3]);
    }
}
