// Reads an array at a stride or at random: each thread has LOADS loads of VECTOR_BYTES in flight, adds them up
// and asks for the next. Thread g of G reads the vectors number g, g + G, g + 2 G … of the sequence that `place` gives.
//
// Compile-time constants (-D): those of tile.cuh (TILE_BYTES is what a CTA uses of one turn), LOADS, VECTOR_BYTES,
// RANDOM, ADVANCE (what `at` grows by from one vector of the sequence to the next), MIX_1, MIX_2 (multipliers of the
// hash), LOG2_FOOTPRINT (of the array).
#include "../_harness/tile.cuh"

constexpr int WORDS = VECTOR_BYTES / 4;
constexpr int MIN_CTAS = WARPS == 1 ? 32 : 64 / WARPS;   // all that an SM has room for
static_assert(TILE_BYTES == LOADS * COMPUTE_THREADS * VECTOR_BYTES, "every thread uses LOADS vectors of a turn");
static_assert(LOG2_FOOTPRINT <= 31, "places are 32-bit numbers");

// Byte offset of a vector. Numbers wrap at 2^32 and the array is a power of two, so that a strided sweep begins
// again where it began; at random, fold and multiply twice, fold, and take the upper bits.
__device__ __forceinline__ unsigned int place(unsigned int at) {
#if RANDOM
  at ^= at >> 16;
  at *= (unsigned int)MIX_1;
  at ^= at >> 13;
  at *= (unsigned int)MIX_2;
  at ^= at >> 16;
  return at >> (32 - LOG2_FOOTPRINT) & (0u - VECTOR_BYTES);
#else
  return at & (unsigned int)((1ull << LOG2_FOOTPRINT) - 1);
#endif
}

struct Vector {
  float word[WORDS];
};

__device__ __forceinline__ Vector load_global(const char* from) {
  Vector x;
#if VECTOR_BYTES == 4
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(x.word[0]) : "l"(from) : "memory");
#elif VECTOR_BYTES == 8
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(x.word[0]), "=f"(x.word[1]) : "l"(from) : "memory");
#else
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.word[0]), "=f"(x.word[1]), "=f"(x.word[2]), "=f"(x.word[3])
               : "l"(from)
               : "memory");
#endif
  return x;
}

extern "C" __global__ void __launch_bounds__(COMPUTE_THREADS, MIN_CTAS)
tile_kernel(const char* __restrict__ in, float* __restrict__ out, int tiles, float a, float b PROBE_PARAMETER) {
  const int thread = opaque_thread();
  unsigned int at = (blockIdx.x * COMPUTE_THREADS + thread) * (unsigned int)ADVANCE;
  const unsigned int step = opaque((int)(gridDim.x * COMPUTE_THREADS * (unsigned int)ADVANCE));
  float sum[4] = {0.f, 0.f, 0.f, 0.f};
  PROBE_BEGIN(thread < 32 ? 0 : -1)

#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    PROBE_ENTER(PROBE_LOAD, t, 0);
    Vector x[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
      x[i] = load_global(in + place(at));
      at += step;
      asm volatile("" : "+r"(at));   // one counter; the compiler would keep one for each load
    }
    __syncwarp();   // for the compiler: all loads before the first sum
    PROBE_ENTER(PROBE_COMPUTE, t, 0);
#pragma unroll
    for (int i = 0; i < LOADS; ++i)
      for (int w = 0; w < WORDS; ++w) sum[w] += x[i].word[w];
  }
  PROBE_LEAVE();
  write_partial(make_float4(sum[0], sum[1], sum[2], sum[3]), thread, out);
}
