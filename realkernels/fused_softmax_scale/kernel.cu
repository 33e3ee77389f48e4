// Rows in, rows out: `scale_rows` multiplies, `softmax_rows` does all three steps at once,
// y = keep * softmax(scale * x). With scale = keep = 1 it is the softmax alone, instruction for instruction.
//
// A CTA treats one row per turn, held in registers: VECTORS float4 per thread. Rows of all CTAs lie one behind the other.
//
// Compile-time constants (-D): VECTORS, WARPS (a power of two), MIN_CTAS (that must fit, so that the compiler takes no
// more registers). `tables` takes 16 * WARPS bytes of dynamic shared memory.

constexpr int THREADS = 32 * WARPS;
constexpr int ROW = VECTORS * THREADS;   // float4 in a row
static_assert((WARPS & (WARPS - 1)) == 0 && WARPS <= 32, "the lanes of one warp hold one number of each warp");

constexpr float LOG2_E = 1.44269504f;

__device__ __forceinline__ float4 load_global(const float4* from) {
  float4 x;
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(from) : "memory");
  return x;
}

__device__ __forceinline__ void store_global(float4* to, float4 x) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w) : "memory");
}

__device__ __forceinline__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Butterflies: afterwards all lanes of each group of 2 * FIRST have the result.
template <int FIRST>
__device__ __forceinline__ float greatest(float x) {
#pragma unroll
  for (int distance = FIRST; distance > 0; distance /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, distance));
  return x;
}

template <int FIRST>
__device__ __forceinline__ float total(float x) {
#pragma unroll
  for (int distance = FIRST; distance > 0; distance /= 2) x += __shfl_xor_sync(~0u, x, distance);
  return x;
}

// Each warp's numbers for the others: its first lane stores, and every lane loads those of one warp.
__device__ __forceinline__ void store_pair(unsigned int to, int lane, float2 x) {
  asm volatile("{\n.reg .pred first;\nsetp.eq.s32 first, %0, 0;\n@first st.shared.v2.f32 [%1], {%2, %3};\n}" ::"r"(lane),
               "r"(to), "f"(x.x), "f"(x.y)
               : "memory");
}

__device__ __forceinline__ float2 load_pair(unsigned int from) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(from) : "memory");
  return x;
}

// Calls each(x) for the float4 of this thread in every row of this CTA; x is written back in the row's place.
template <class Body>
__device__ __forceinline__ void for_rows(const float4* in, float4* out, int rows, Body each) {
  const long long first = (long long)blockIdx.x * ROW + threadIdx.x;
  long long stride = (long long)gridDim.x * ROW * 16;
  in += first;
  out += first;
  // Opaque, or the compiler keeps an address for each of the vectors and works the stride out again in every turn.
  asm volatile("" : "+l"(stride));
#pragma unroll 1
  for (int row = 0; row < rows; ++row) {
    float4 x[VECTORS];
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) x[i] = load_global(in + i * THREADS);
    each(x);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) store_global(out + i * THREADS, x[i]);
    in = (const float4*)((const char*)in + stride);
    out = (float4*)((char*)out + stride);
    asm volatile("" : "+l"(in), "+l"(out));
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_CTAS)
scale_rows(const float4* in, float4* out, int rows, float scale, float) {
  for_rows(in, out, rows, [&](float4* x) {
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) x[i] = make_float4(x[i].x * scale, x[i].y * scale, x[i].z * scale, x[i].w * scale);
  });
}

// `scale` is positive: the greatest x is the greatest of the row, scaled or not.
extern "C" __global__ void __launch_bounds__(THREADS, MIN_CTAS)
softmax_rows(const float4* in, float4* out, int rows, float scale, float keep) {
  // Two tables in turn, so that one barrier a row is enough: who writes one again has met all who read it.
  extern __shared__ __align__(16 * WARPS) float2 tables[];
  const int lane = threadIdx.x % 32;
  const unsigned int table = (unsigned int)__cvta_generic_to_shared(tables);
  unsigned int mine = table + 8 * (threadIdx.x / 32), theirs = table + 8 * (lane % WARPS);
  const float to_exponent = scale * LOG2_E;

  for_rows(in, out, rows, [&](float4* x) {
    float4 most = x[0];
#pragma unroll
    for (int i = 1; i < VECTORS; ++i) {
      most.x = fmaxf(most.x, x[i].x);
      most.y = fmaxf(most.y, x[i].y);
      most.z = fmaxf(most.z, x[i].z);
      most.w = fmaxf(most.w, x[i].w);
    }
    // Each warp takes its own maximum first; the exchange brings all to the same.
    const float own = to_exponent * greatest<16>(fmaxf(fmaxf(most.x, most.y), fmaxf(most.z, most.w)));
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      x[i].x = exp2_approximate(fmaf(x[i].x, to_exponent, -own));
      x[i].y = exp2_approximate(fmaf(x[i].y, to_exponent, -own));
      x[i].z = exp2_approximate(fmaf(x[i].z, to_exponent, -own));
      x[i].w = exp2_approximate(fmaf(x[i].w, to_exponent, -own));
      sum.x += x[i].x;
      sum.y += x[i].y;
      sum.z += x[i].z;
      sum.w += x[i].w;
    }
    store_pair(mine, lane, make_float2(own, total<16>((sum.x + sum.y) + (sum.z + sum.w))));
    __syncthreads();
    const float2 other = load_pair(theirs);
    mine ^= 8 * WARPS;
    theirs ^= 8 * WARPS;
    const float all = greatest<WARPS / 2>(other.x);
    const float of_row = total<WARPS / 2>(other.y * exp2_approximate(other.x - all));
    const float factor = keep * exp2_approximate(own - all) * reciprocal(of_row);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      x[i].x *= factor;
      x[i].y *= factor;
      x[i].z *= factor;
      x[i].w *= factor;
    }
  });
}
