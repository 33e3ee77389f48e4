// The work every tile pipeline does on a tile that lies in shared memory.
//
// Kernels differ only in how a tile gets there; what happens to it afterwards is this file,
// so that two techniques are compared on the same instructions. tile_loop.py states how many.
//
// Compile-time constants (-D): TILE_BYTES, FMA_PER_ELEMENT, WARPS (computing warps), FMA_UNROLL
// (longest straight run of dependent FMAs).
#pragma once
#include "probe.cuh"

static_assert(TILE_BYTES % 16 == 0, "a tile is a whole number of float4");

constexpr int VECTORS = TILE_BYTES / 16;        // float4 in one tile
constexpr int COMPUTE_THREADS = 32 * WARPS;     // threads that share the work on a tile
constexpr int UNEVEN_VECTORS = VECTORS % COMPUTE_THREADS;
constexpr int PER_THREAD = (VECTORS + COMPUTE_THREADS - 1) / COMPUTE_THREADS;   // vectors, rounded up
constexpr int WHOLE = VECTORS / COMPUTE_THREADS;                                // vectors every thread has
// The first HEAD_WARPS warps have one vector more than the others.
constexpr int HEAD_WARPS = UNEVEN_VECTORS ? (UNEVEN_VECTORS + 31) / 32 : WARPS;

template <int COUNT>
__device__ __forceinline__ void affine_run(float4& x, float a, float b) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    x.x = fmaf(x.x, a, b);
    x.y = fmaf(x.y, a, b);
    x.z = fmaf(x.z, a, b);
    x.w = fmaf(x.w, a, b);
  }
}

// Values the compiler cannot trace back to where they came from. Without this it reads kernel
// arguments again inside the tile loop, moves them between register files and reshapes loops by
// their constant trip counts, so that every parameter set would run another instruction stream.
// A shuffle of each lane with itself does it, as long as the value is not known to be uniform.
// All lanes of a warp must call these.
__device__ __forceinline__ int opaque_thread() {
  return __shfl_sync(~0u, (int)threadIdx.x, threadIdx.x % 32);
}
__device__ __forceinline__ int opaque(int value) {
  const int zero = opaque_thread() >> 20;
  return __shfl_sync(~0u, value + zero, threadIdx.x % 32);
}
__device__ __forceinline__ float opaque(float value) { return __int_as_float(opaque(__float_as_int(value))); }

// x -> a x + b, FMA_PER_ELEMENT times in a row on each of four independent elements. Beyond
// FMA_UNROLL the run is rolled, so that the code stays inside the instruction cache.
struct Affine {
  float a, b;
  int rolls;   // rolled iterations of FMA_UNROLL

  __device__ __forceinline__ Affine(float a, float b)
      : a(opaque(a)), b(opaque(b)), rolls(opaque(FMA_PER_ELEMENT / FMA_UNROLL)) {}

  __device__ __forceinline__ void apply(float4& x) const {
    if constexpr (FMA_PER_ELEMENT > FMA_UNROLL) {
      int left = rolls;
#pragma unroll 1
      do affine_run<FMA_UNROLL>(x, a, b);
      while (--left > 0);
      affine_run<FMA_PER_ELEMENT % FMA_UNROLL>(x, a, b);
    } else {
      affine_run<FMA_PER_ELEMENT>(x, a, b);
    }
  }
};

// Addresses in shared memory are 32-bit here, as the instructions that use them have it.
__device__ __forceinline__ unsigned int shared_address(const void* pointer) {
  unsigned int address = (unsigned int)__cvta_generic_to_shared(pointer);
  asm volatile("" : "+r"(address));
  return address;
}

__device__ __forceinline__ float4 load_shared(unsigned int address) {
  float4 x;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "r"(address));
  return x;
}

// One thread's share of a tile: every COMPUTE_THREADS-th float4, added up in four chains.
// Not unrolled: each vector exposes the latency of its shared-memory load, which is what
// the other warps of the scheduler are there to hide.
__device__ __forceinline__ void consume(unsigned int tile, int thread, const Affine& affine, float4& sum) {
  const unsigned int end = tile + TILE_BYTES;
#pragma unroll 1
  for (unsigned int at = tile + 16 * thread; at < end; at += 16 * COMPUTE_THREADS) {
    float4 x = load_shared(at);
    affine.apply(x);
    sum.x += x.x;
    sum.y += x.y;
    sum.z += x.z;
    sum.w += x.w;
  }
}

// out[cta * WARPS + warp] = sum over the warp; without atomics, so that a run is repeatable bit by bit.
__device__ __forceinline__ void write_partial(float4 sum, int thread, float* out) {
  float total = (sum.x + sum.y) + (sum.z + sum.w);
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) total += __shfl_down_sync(~0u, total, distance);
  if (thread % 32 == 0) out[blockIdx.x * WARPS + thread / 32] = total;
}

// Calls each(i, v) for this thread's COUNT vectors v = first, first + COMPUTE_THREADS, …
// Only the last of them can lie beyond the tile, so only it is predicated.
template <int COUNT, bool GUARD_LAST, class Body>
__device__ __forceinline__ void for_vectors(int first, Body each) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const int v = first + i * COMPUTE_THREADS;
    if (i + 1 < COUNT || !GUARD_LAST || v < VECTORS) each(i, v);
  }
}

#ifdef PROBE
// Lanes of a recording: the first warp of each role stands for it (tile_loop.py has the names). The others are not
// shown, but say when any of the role computes: one that falls behind may be the only one.
__device__ __forceinline__ int worker_lane(int warp) {
  if (warp == WARPS) return 2;   // the observer
  return warp == 0 ? 0 : warp == HEAD_WARPS ? 1 : warp < WARPS ? 3 + warp : -1;
}
constexpr int PRODUCER_LANE = 3;

// 32 threads, spread evenly over those that copy, each tell of the last vector that they copy, and a lane of the observer
// looks there: one thread a warp would leave out the slowest of many lines. Offset in a tile of that vector's last word,
// for a thread that copies and for its lane of the observer; -1 for all others.
__device__ __forceinline__ int watched_word(int thread) {
  const bool observes = thread >= COMPUTE_THREADS;
  if (!observes && (thread + 1) % WARPS != 0) return -1;
  const int told = observes ? (thread % 32 + 1) * WARPS - 1 : thread;
  const int last = (VECTORS - 1 - told) / COMPUTE_THREADS;   // of its vectors
  return told < VECTORS ? 16 * (told + last * COMPUTE_THREADS) + 12 : -1;
}
#endif
