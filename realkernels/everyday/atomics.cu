// Kernels of the everyday kind that update global memory atomically, written as one writes them.

typedef unsigned int u32;
typedef unsigned long long u64;

// A histogram of 256 bins in global memory, without copies of it: the bin is the high byte of the hashed key.
extern "C" __global__ void __launch_bounds__(256) histogram(const uint4* keys, u32* bins, int turns) {
  u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
#pragma unroll 1
  for (int t = 0; t < turns; ++t, i += (u64)gridDim.x * 256) {
    const uint4 k = keys[i];
    atomicAdd(bins + (k.x * 2654435761u >> 24), 1u);
    atomicAdd(bins + (k.y * 2654435761u >> 24), 1u);
    atomicAdd(bins + (k.z * 2654435761u >> 24), 1u);
    atomicAdd(bins + (k.w * 2654435761u >> 24), 1u);
  }
}

// The end of a matrix product whose depth is split: each CTA adds its part of 128 x 128 to the tile of the output that
// all CTAs of the same number modulo `tiles` share. The parts lie in memory, where a product would have registers.
extern "C" __global__ void __launch_bounds__(256) split_k(const float* parts, float* out, int tiles) {
  const float* from = parts + (u64)blockIdx.x * 16384 + threadIdx.x;
  float* to = out + (u64)(blockIdx.x % tiles) * 16384 + threadIdx.x;
#pragma unroll 1
  for (int t = 0; t < 4; ++t, from += 4096, to += 4096) {
    float part[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) part[i] = from[i * 256];
#pragma unroll
    for (int i = 0; i < 16; ++i) atomicAdd(to + i * 256, part[i]);
  }
}

// Keys below a half are moved to the front, those of a warp to where one counter says: its lanes ask for room together.
extern "C" __global__ void __launch_bounds__(256) compact(const float* keys, float* kept, u32* counter, int turns) {
  const u32 lane = threadIdx.x % 32;
  u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
#pragma unroll 1
  for (int t = 0; t < turns; ++t, i += (u64)gridDim.x * 256) {
    const float key = keys[i];
    const u32 which = __ballot_sync(~0u, key < 0.5f);
    u32 at = 0;
    if (lane == 0) at = atomicAdd(counter, __popc(which));
    at = __shfl_sync(~0u, at, 0);
    if (key < 0.5f) kept[at + __popc(which & (1u << lane) - 1u)] = key;
  }
}
