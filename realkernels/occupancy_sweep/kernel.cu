// Reads memory as fast as the warps that fit on an SM can ask for it: each thread has LOADS loads of
// 16 bytes in flight, adds them up, and asks for the next. What limits the resident warps is
// decided from outside (block size, shared memory) or by HELD registers that no executed path needs.
//
// Compile-time constants (-D): those of tile.cuh (TILE_BYTES is what a CTA reads in one turn), LOADS, HELD,
// MIN_CTAS (that must fit, so that the compiler takes no more registers).
#include "../_harness/tile.cuh"

static_assert(VECTORS == LOADS * COMPUTE_THREADS, "every thread has LOADS vectors of a tile");

__device__ __forceinline__ float4 load_global(const float4* from) {
  float4 x;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(from) : "memory");
  return x;
}

// Never called, but it needs HELD registers, and a kernel gets as many as its hungriest path.
__device__ __forceinline__ void hold_registers(const float4* in, float* out) {
  float held[HELD + 1];
#pragma unroll
  for (int i = 0; i < HELD; ++i)
    asm volatile("ld.volatile.global.f32 %0, [%1];" : "=f"(held[i]) : "l"((const float*)in + 32 * i) : "memory");
#pragma unroll
  for (int i = 0; i < HELD; ++i)
    asm volatile("st.volatile.global.f32 [%0], %1;" ::"l"(out + 32 * i), "f"(held[i]) : "memory");
}

extern "C" __global__ void __launch_bounds__(COMPUTE_THREADS, MIN_CTAS)
tile_kernel(const float4* __restrict__ in, float* __restrict__ out, int tiles, float a, float b PROBE_PARAMETER) {
  const int thread = opaque_thread();
  const float4* source = in + (long long)blockIdx.x * VECTORS + thread;
  // Both halves opaque, or the compiler multiplies again in every turn.
  const unsigned long long turn = (unsigned long long)gridDim.x * 16 * VECTORS;
  const long long stride = (long long)opaque((int)(turn >> 32)) << 32 | (unsigned int)opaque((int)turn);
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  if (tiles < 0) hold_registers(in, out);
  PROBE_BEGIN(worker_lane(thread / 32))

#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    PROBE_ENTER(PROBE_LOAD, t, 0);
    float4 x[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) x[i] = load_global(source + i * COMPUTE_THREADS);
    source = (const float4*)((const char*)source + stride);
    __syncwarp();   // for the compiler: all loads before the first sum
    PROBE_ENTER(PROBE_COMPUTE, t, 0);
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
      sum.x += x[i].x;
      sum.y += x[i].y;
      sum.z += x[i].z;
      sum.w += x[i].w;
    }
  }
  PROBE_LEAVE();
  write_partial(sum, thread, out);
}
