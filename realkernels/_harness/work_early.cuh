// A kernel of known cost for programmatic dependent launches.
#pragma once
#include "work.cuh"

// `work_fixed` between the kernel ahead and the next one (programmatic dependent launch): every block stays for
// `prologue_ns`, waits for the kernel ahead, which it has to see before it adds to what that one wrote, stays for
// `before_ns`, lets the next kernel begin, and stays for `after_ns`. `who`: it does so first of all (1), there (2), or
// only by ending (0).
extern "C" __global__ void __launch_bounds__(1024)
work_early(unsigned int* data, unsigned long long words, unsigned long long prologue_ns, unsigned long long before_ns,
           unsigned long long after_ns, unsigned int who) {
  if (who == 1) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  const unsigned long long start = nanoseconds();
  if (threadIdx.x == 0 && prologue_ns) {
    while (nanoseconds() - start < prologue_ns) {
    }
  }
  __syncthreads();
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const unsigned long long waited = nanoseconds();
  if (who == 2 && before_ns == 0) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
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
  if (threadIdx.x == 0) {
    while (nanoseconds() - waited < before_ns) {
    }
  }
  __syncthreads();
  if (who == 2 && before_ns) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (threadIdx.x == 0) {
    while (nanoseconds() - waited < before_ns + after_ns) {
    }
  }
  __syncthreads();
}
