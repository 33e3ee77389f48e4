// rmsnorm.cu with time stamps in it. Without -DPROBE every line that was added compiles to nothing.
//
// Compile-time constants (-D): HIDDEN (floats of a row), WARPS (that compute), STAGES (rows in the ring).

#include "observer.cuh"

constexpr int THREADS = 32 * WARPS;
constexpr int VECTORS = HIDDEN / 4;               // float4 in a row
constexpr int PER_THREAD = VECTORS / THREADS;     // float4 of a row that a thread keeps in registers
constexpr int ROW_BYTES = 4 * HIDDEN;
static_assert(VECTORS % THREADS == 0, "a row is shared out evenly");

using Barrier = unsigned long long;

__device__ unsigned int address_of(const void* pointer) { return (unsigned int)__cvta_generic_to_shared(pointer); }

__device__ void initialise(Barrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(arrivals) : "memory");
}

__device__ void wait(Barrier* barrier, int parity) {
  asm volatile(
      "{\n\t.reg .pred done;\n\t"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
      "@!done bra again;\n\t}" ::"r"(address_of(barrier)), "r"(parity) : "memory");
}

__device__ void arrive(Barrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(barrier)) : "memory");
}

// The copy unit fetches one row and completes the barrier's phase when all its bytes are there.
__device__ void fetch(float4* to, const float4* from, Barrier* barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(barrier)), "r"(ROW_BYTES)
               : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   address_of(to)), "l"(from), "r"(ROW_BYTES), "r"(address_of(barrier)) : "memory");
}

extern "C" __global__ void __launch_bounds__(32 + THREADS PROBE_ONLY(+32) PROBE_RESIDENT)
rmsnorm(const float4* __restrict__ x, const float4* __restrict__ weight, float4* __restrict__ y, int rows,
        float epsilon PROBE_PARAMETER) {
  extern __shared__ __align__(128) float4 ring[];
  __shared__ Barrier full[STAGES], empty[STAGES];
  __shared__ __align__(16) float partial[2][WARPS];

  PROBE_ONLY(const int own = threadIdx.x / 32;)               // 0: producer; 1 … WARPS: consumers; then the observer
  PROBE_BEGIN(own == 0 ? 3 : own == 1 ? 0 : own > WARPS ? 2 : 2 + own)
  PROBE_ENTER(PROBE_SETUP, -1, 0);
  PROBE_ONLY(int turn = 0;)
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      initialise(&full[s], 1);
      initialise(&empty[s], WARPS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) {
      PROBE_ALONE()
      int stage = 0, parity = 1;                              // a fresh stage counts as free
      for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        PROBE_ENTER(PROBE_WAIT_FREE, turn, stage);
        wait(&empty[stage], parity);
        PROBE_ENTER(PROBE_ISSUE, turn, stage);
        fetch(ring + stage * VECTORS, x + (long long)row * VECTORS, &full[stage]);
        if (++stage == STAGES) stage = 0, parity ^= 1;
        PROBE_ONLY(++turn;)
      }
      PROBE_LEAVE();
    }
    return;
  }
#ifdef PROBE
  if (own > WARPS) {
    observe(probe, address_of(full), (rows - blockIdx.x + gridDim.x - 1) / gridDim.x, STAGES);
    PROBE_LEAVE();
    return;
  }
#endif

  const int thread = threadIdx.x - 32, lane = thread % 32, warp = thread / 32;
  float4 scale_by[PER_THREAD];
#pragma unroll
  for (int i = 0; i < PER_THREAD; ++i) scale_by[i] = weight[thread + i * THREADS];

  int stage = 0, parity = 0, slot = 0;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    PROBE_ENTER(PROBE_WAIT_STAGE, turn, stage);
    wait(&full[stage], parity);
    PROBE_ENTER(PROBE_COMPUTE, turn, stage);
    float4 v[PER_THREAD];
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {
      v[i] = ring[stage * VECTORS + thread + i * THREADS];
      sum = fmaf(v[i].x, v[i].x, sum);
      sum = fmaf(v[i].y, v[i].y, sum);
      sum = fmaf(v[i].z, v[i].z, sum);
      sum = fmaf(v[i].w, v[i].w, sum);
    }
    __syncwarp();
    if (lane == 0) arrive(&empty[stage]);                     // the row is in registers: its stage is free
    if (++stage == STAGES) stage = 0, parity ^= 1;

#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    if (lane == 0) partial[slot][warp] = sum;
    PROBE_ENTER(PROBE_BARRIER, turn, 0);
    asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
    PROBE_MET();
    PROBE_ENTER(PROBE_COMPUTE, turn, 0);
    float total = 0.f;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) total += partial[slot][w];
    slot ^= 1;                                                // the next row's sums do not meet this one's readers

    const float scale = rsqrtf(total / HIDDEN + epsilon);
    float4* out = y + (long long)row * VECTORS + thread;
    PROBE_ENTER(PROBE_STORE, turn, 0);
#pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {
      float4 r;
      r.x = v[i].x * scale * scale_by[i].x;
      r.y = v[i].y * scale * scale_by[i].y;
      r.z = v[i].z * scale * scale_by[i].z;
      r.w = v[i].w * scale * scale_by[i].w;
      out[i * THREADS] = r;
    }
    PROBE_ONLY(++turn;)
  }
  PROBE_LEAVE();
}
