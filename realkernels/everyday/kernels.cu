// Kernels of the everyday kind, written as one writes them; what each does is said above it.

typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void barrier_init(u64* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_wait(u64* barrier, u32 parity) {
  u32 done;
  do {
    asm volatile(
        "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  } while (!done);
}

__device__ __forceinline__ void barrier_arrive(u64* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ __forceinline__ void bulk_load(void* to, const void* from, u32 bytes, u64* barrier) {
  const u32 at = shared_address(barrier);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)), "l"(from), "r"(bytes), "r"(at) : "memory");
}

__device__ __forceinline__ void bulk_store(void* to, const void* from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
               "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ __forceinline__ void copy_async(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(~0u, x, distance);
  return x;
}

// C = A B, a TILE x TILE block per CTA, one element per thread: the first tiled matrix multiplication of every course.
template <int TILE>
__device__ __forceinline__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float left[TILE][TILE], right[TILE][TILE];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
  float sum = 0.f;
  for (int t = 0; t < n / TILE; ++t) {
    left[y][x] = a[row * n + t * TILE + x];
    right[y][x] = b[(t * TILE + y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
extern "C" __global__ void __launch_bounds__(1024) matmul_32x32(const float* a, const float* b, float* c, int n) {
  matmul<32>(a, b, c, n);
}
extern "C" __global__ void __launch_bounds__(256) matmul_16x16(const float* a, const float* b, float* c, int n) {
  matmul<16>(a, b, c, n);
}

// C = A B, 64 x 64 per CTA in steps of 16, 4 x 4 per thread; the next tiles are loaded into registers meanwhile.
extern "C" __global__ void __launch_bounds__(256) sgemm_64x64(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float left[16][64 + 4], right[16][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, row = t / 4, step = (t % 4) * 4;
  a += (u64)(blockIdx.y * 64 + row) * n + step;
  b += (u64)(t / 16) * n + blockIdx.x * 64 + tx * 4;
  float4 x = *(const float4*)a, y = *(const float4*)b;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    left[step][row] = x.x, left[step + 1][row] = x.y, left[step + 2][row] = x.z, left[step + 3][row] = x.w;
    *(float4*)&right[t / 16][tx * 4] = y;
    __syncthreads();
    if (k0 + 16 < n) {
      a += 16, b += 16 * (u64)n;
      x = *(const float4*)a, y = *(const float4*)b;
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 u = *(float4*)&left[k][ty * 4], v = *(float4*)&right[k][tx * 4];
      const float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += us[i] * vs[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    *(float4*)&c[(u64)(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4] = *(float4*)sum[i];
}

// The same, 128 x 128 in steps of 8, 8 x 8 per thread, two buffers: B comes by cp.async, A is transposed on its way.
extern "C" __global__ void __launch_bounds__(256) sgemm_128x128(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float left[2][8][128], right[2][8][128];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16, row = t / 2, step = (t % 2) * 4;
  a += (u64)(blockIdx.y * 128 + row) * n + step;
  b += (u64)(t / 32) * n + blockIdx.x * 128 + (t % 32) * 4;
  float sum[8][8] = {};
  float4 x = *(const float4*)a;
  copy_async(&right[0][t / 32][(t % 32) * 4], b);
  asm volatile("cp.async.commit_group;");
  left[0][step][row] = x.x, left[0][step + 1][row] = x.y, left[0][step + 2][row] = x.z, left[0][step + 3][row] = x.w;
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  for (int k0 = 8, now = 0;; k0 += 8) {
    const bool more = k0 < n;
    if (more) {
      x = *(const float4*)(a + k0);
      copy_async(&right[now ^ 1][t / 32][(t % 32) * 4], b + (u64)k0 * n);
      asm volatile("cp.async.commit_group;");
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float u[8], v[8];
      *(float4*)u = *(float4*)&left[now][k][ty * 8], *(float4*)(u + 4) = *(float4*)&left[now][k][ty * 8 + 4];
      *(float4*)v = *(float4*)&right[now][k][tx * 4], *(float4*)(v + 4) = *(float4*)&right[now][k][64 + tx * 4];
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(u[i], v[j], sum[i][j]);
    }
    if (!more) break;
    now ^= 1;
    left[now][step][row] = x.x, left[now][step + 1][row] = x.y;
    left[now][step + 2][row] = x.z, left[now][step + 3][row] = x.w;
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) {
    float* to = &c[(u64)(blockIdx.y * 128 + ty * 8 + i) * n + blockIdx.x * 128 + tx * 4];
    *(float4*)to = *(float4*)sum[i];
    *(float4*)(to + 64) = *(float4*)(sum[i] + 4);
  }
}

// Accelerations of bodies (x, y, z, mass) by all others, in tiles of 256.
extern "C" __global__ void __launch_bounds__(256) nbody(const float4* body, float4* acceleration, int count) {
  __shared__ float4 tile[256];
  const float4 me = body[blockIdx.x * 256 + threadIdx.x];
  float3 sum = make_float3(0.f, 0.f, 0.f);
  for (int t = 0; t < count; t += 256) {
    tile[threadIdx.x] = body[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 256; ++k) {
      const float4 other = tile[k];
      const float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
      float pull = rsqrtf(x * x + y * y + z * z + 0.01f);
      pull = pull * pull * pull * other.w;
      sum.x += x * pull, sum.y += y * pull, sum.z += z * pull;
    }
    __syncthreads();
  }
  acceleration[blockIdx.x * 256 + threadIdx.x] = make_float4(sum.x, sum.y, sum.z, 0.f);
}

// a = b + s c, one float4 per thread.
extern "C" __global__ void __launch_bounds__(256) triad(const float4* b, const float4* c, float4* a, float s) {
  const u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
  const float4 x = b[i], y = c[i];
  a[i] = make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w);
}

// Dot product, grid-stride, two float4 of each vector per turn.
extern "C" __global__ void __launch_bounds__(256) dot(const float4* a, const float4* b, float* out, int turns) {
  const u64 step = (u64)gridDim.x * 256;
  u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
  float sum = 0.f;
#pragma unroll 1
  for (int t = 0; t < turns; ++t, i += 2 * step) {
    const float4 x = a[i], y = b[i], u = a[i + step], v = b[i + step];
    sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  __shared__ float part[8];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0.f;
    for (int w = 0; w < 8; ++w) sum += part[w];
    out[blockIdx.x] = sum;
  }
}

// Layer norm, a CTA per row of 4096 that stays in registers.
extern "C" __global__ void __launch_bounds__(256) layer_norm(const float4* x, float4* y, float epsilon) {
  __shared__ float sums[8], squares[8];
  const float4* from = x + (u64)blockIdx.x * 1024 + threadIdx.x;
  float4 v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = from[i * 256];
  float sum = 0.f, square = 0.f, total = 0.f;
#pragma unroll
  for (int i = 0; i < 4; ++i) sum += v[i].x + v[i].y + v[i].z + v[i].w;
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < 8; ++w) total += sums[w];
  const float mean = total / 4096.f;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    v[i].x -= mean, v[i].y -= mean, v[i].z -= mean, v[i].w -= mean;
    square += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
  }
  square = warp_sum(square);
  if (threadIdx.x % 32 == 0) squares[threadIdx.x / 32] = square;
  __syncthreads();
  total = 0.f;
#pragma unroll
  for (int w = 0; w < 8; ++w) total += squares[w];
  const float scale = rsqrtf(total / 4096.f + epsilon);
  float4* to = y + (u64)blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i * 256] = make_float4(v[i].x * scale, v[i].y * scale, v[i].z * scale, v[i].w * scale);
}

// Transpose through shared memory, 32 x 32 per CTA, padded.
extern "C" __global__ void __launch_bounds__(256) transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(u64)(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) out[(u64)(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

// 17 taps through shared memory, one float per thread; in[8] belongs to out[0].
extern "C" __global__ void __launch_bounds__(256) stencil_17(const float* in, float* out) {
  __shared__ float tile[256 + 16];
  const u64 i = (u64)blockIdx.x * 256 + threadIdx.x;
  const bool before = threadIdx.x < 8;
  tile[threadIdx.x + 8] = in[i + 8];
  if (threadIdx.x < 16) tile[before ? threadIdx.x : threadIdx.x + 256] = in[before ? i : i + 256];
  __syncthreads();
  float sum = 0.f;
#pragma unroll
  for (int k = 0; k < 17; ++k) sum += tile[threadIdx.x + k] * (0.1f * k + 0.05f);
  out[i] = sum;
}

// y = A x, rows of 8192, a warp per row, x in shared memory.
extern "C" __global__ void __launch_bounds__(256) gemv(const float4* a, const float4* x, float* y, int rows) {
  extern __shared__ __align__(128) float4 shared[];
  for (int i = threadIdx.x; i < 2048; i += 256) shared[i] = x[i];
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int row = blockIdx.x * 8 + threadIdx.x / 32; row < rows; row += gridDim.x * 8) {
    const float4* from = a + (u64)row * 2048 + lane;
    float even = 0.f, odd = 0.f;
#pragma unroll 8
    for (int i = 0; i < 64; ++i) {
      const float4 v = from[i * 32], w = shared[i * 32 + lane];
      even = fmaf(v.x, w.x, even), even = fmaf(v.y, w.y, even);
      odd = fmaf(v.z, w.z, odd), odd = fmaf(v.w, w.w, odd);
    }
    const float sum = warp_sum(even + odd);
    if (lane == 0) y[row] = sum;
  }
}

// Sum of exponentials: four warps, cp.async into a ring of four tiles of 8 KiB, each CTA a part of its own.
extern "C" __global__ void __launch_bounds__(128) exponentials(const float4* in, float* out, int tiles) {
  extern __shared__ __align__(128) float4 shared[];
  const float4* from = in + (u64)blockIdx.x * tiles * 512 + threadIdx.x;
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  for (int t = 0; t < 3; ++t) {
#pragma unroll
    for (int i = 0; i < 4; ++i) copy_async(shared + t * 512 + threadIdx.x + i * 128, from + t * 512 + i * 128);
    asm volatile("cp.async.commit_group;");
  }
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    asm volatile("cp.async.wait_group 2;" ::: "memory");
    __syncthreads();
    if (t + 3 < tiles) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        copy_async(shared + (t + 3) % 4 * 512 + threadIdx.x + i * 128, from + (u64)(t + 3) * 512 + i * 128);
    }
    asm volatile("cp.async.commit_group;");
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float4 v = shared[t % 4 * 512 + threadIdx.x + i * 128];
      sum.x += __expf(v.x), sum.y += __expf(v.y), sum.z += __expf(v.z), sum.w += __expf(v.w);
    }
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}

// Sum of polynomials: a producer warp with bulk copies into a ring of four tiles of 12 KiB, six warps that load floats.
extern "C" __global__ void __launch_bounds__(224) polynomial(const float* in, float* out, int tiles) {
  extern __shared__ __align__(128) float4 shared[];
  __shared__ __align__(8) u64 full[4], empty[4];
  constexpr int FLOATS = 3072;
  float* ring = (float*)shared;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 4; ++s) barrier_init(full + s, 1), barrier_init(empty + s, 6);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 192) {
    if (threadIdx.x == 192) {
      for (int t = 0, s = 0, parity = 1; t < tiles; ++t) {
        barrier_wait(empty + s, parity);
        bulk_load(ring + s * FLOATS, in + ((u64)t * gridDim.x + blockIdx.x) * FLOATS, 4 * FLOATS, full + s);
        if (++s == 4) s = 0, parity ^= 1;
      }
    }
    return;
  }
  float sum = 0.f;
  for (int t = 0, s = 0, parity = 0; t < tiles; ++t) {
    barrier_wait(full + s, parity);
    const float* tile = ring + s * FLOATS;
#pragma unroll 4
    for (int i = threadIdx.x; i < FLOATS; i += 192) {
      const float x = tile[i];
      float y = 0.5f;
      y = fmaf(y, x, 1.1f), y = fmaf(y, x, 1.2f), y = fmaf(y, x, 1.3f);
      y = fmaf(y, x, 1.4f), y = fmaf(y, x, 1.5f), y = fmaf(y, x, 1.6f);
      sum += y;
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(empty + s);
    if (++s == 4) s = 0, parity ^= 1;
  }
  out[blockIdx.x * 192 + threadIdx.x] = sum;
}

// Eight FMAs on each float, in place in a ring of four tiles of 8 KiB: one thread does bulk loads and bulk stores.
extern "C" __global__ void __launch_bounds__(160) in_place(const float4* in, float4* out, int tiles) {
  extern __shared__ __align__(128) float4 shared[];
  __shared__ __align__(8) u64 full[4], done[4];
  constexpr int VECTORS = 512, BYTES = 16 * VECTORS;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 4; ++s) barrier_init(full + s, 1), barrier_init(done + s, 4);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      const u64 stride = (u64)gridDim.x * VECTORS;
      in += blockIdx.x * VECTORS, out += blockIdx.x * VECTORS;
      for (int t = 0; t < 2 && t < tiles; ++t) bulk_load(shared + t * VECTORS, in + t * stride, BYTES, full + t);
      for (int t = 0; t < tiles; ++t) {
        barrier_wait(done + t % 4, t / 4 & 1);
        bulk_store(out + t * stride, shared + t % 4 * VECTORS, BYTES);
        if (t + 2 < tiles) {
          asm volatile("cp.async.bulk.wait_group.read 2;" ::: "memory");
          bulk_load(shared + (t + 2) % 4 * VECTORS, in + (t + 2) * stride, BYTES, full + (t + 2) % 4);
        }
      }
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    return;
  }
  for (int t = 0; t < tiles; ++t) {
    barrier_wait(full + t % 4, t / 4 & 1);
    float4* tile = shared + t % 4 * VECTORS + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float4 v = tile[i * 128];
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        v.x = fmaf(v.x, 1.01f, .5f), v.y = fmaf(v.y, 1.01f, .5f);
        v.z = fmaf(v.z, 1.01f, .5f), v.w = fmaf(v.w, 1.01f, .5f);
      }
      tile[i * 128] = v;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x % 32 == 0) barrier_arrive(done + t % 4);
  }
}
