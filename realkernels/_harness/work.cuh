// Kernels of known cost for host techniques: what matters there is when a kernel runs, not what it does.
//
// Both add 1 to every word of `data`, so that a copy, a launch or a dependency that went missing
// shows up in the result. Compile-time constant: HOLD, registers kept alive per thread beyond the few
// the kernel itself needs (a footprint).
#pragma once
#ifndef HOLD
#define HOLD 0
#endif

__device__ __forceinline__ unsigned long long nanoseconds() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

// Every block stays for `duration_ns` by the global timer. The increments are part of that time.
extern "C" __global__ void __launch_bounds__(HOLD > 0 ? 256 : 1024)
work_fixed(unsigned int* data, unsigned long long words, unsigned long long duration_ns) {
  const unsigned long long start = nanoseconds();
#if HOLD > 0
  unsigned int held[HOLD];
#pragma unroll
  for (int i = 0; i < HOLD; ++i) held[i] = threadIdx.x + i;
#endif
  // Four words a step, because at the shortest durations the increments must be quick; the rest one by one.
  const unsigned long long quads = words / 4;
  uint4* wide = reinterpret_cast<uint4*>(data);
  const unsigned long long first = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  const unsigned long long step = gridDim.x * (unsigned long long)blockDim.x;
  for (unsigned long long i = first; i < quads; i += step) {
    uint4 v = wide[i];
    v.x += 1, v.y += 1, v.z += 1, v.w += 1;
    wide[i] = v;
  }
  for (unsigned long long i = 4 * quads + first; i < words; i += step) data[i] += 1;
  // One thread watches the clock, the others wait for it: a warp that has ended leaves its threads and registers to
  // blocks of other kernels at once, long before its own block ends.
  [[maybe_unused]] unsigned long long now = start;
  if (threadIdx.x == 0) {
    while ((now = nanoseconds()) - start < duration_ns) {
#if HOLD > 0
      // Carried around the loop, so that each needs a register of its own.
#pragma unroll
      for (int i = 0; i < HOLD; ++i) held[i] = held[i] * (unsigned int)now + i;
#endif
    }
  }
  __syncthreads();
#if HOLD > 0
  unsigned int sum = 0;
#pragma unroll
  for (int i = 0; i < HOLD; ++i) sum ^= held[i] >> i % 32;
  // Never true for as long as anybody runs this; the compiler does not know.
  if (now == 0) data[0] = sum;
#endif
}

// `rounds` dependent FMAs per word on top of the increment: a kernel with a roofline.
extern "C" __global__ void __launch_bounds__(1024)
work_roofline(unsigned int* data, unsigned long long words, unsigned int rounds, float a, float b) {
  const unsigned long long quads = words / 4;
  uint4* wide = reinterpret_cast<uint4*>(data);
  const unsigned long long first = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  const unsigned long long step = gridDim.x * (unsigned long long)blockDim.x;
  for (unsigned long long i = first; i < quads; i += step) {
    uint4 v = wide[i];
    float x = 1.f, y = 1.f, z = 1.f, w = 1.f;
    for (unsigned int r = 0; r < rounds; ++r) {
      x = fmaf(x, a, b), y = fmaf(y, a, b), z = fmaf(z, a, b), w = fmaf(w, a, b);
    }
    // With a = 1 and b = 0 each result is 1; the compiler does not know.
    v.x += (unsigned int)x, v.y += (unsigned int)y, v.z += (unsigned int)z, v.w += (unsigned int)w;
    wide[i] = v;
  }
}
