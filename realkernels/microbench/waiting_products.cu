// How long warpgroups that meet take to ask for PER_GROUP wgmma each, and until a wait returns that leaves PENDING groups
// under way. Those before were done long ago. Operands in shared memory. Defines of wgmma.cuh.
#include "common.cuh"
#include "../_harness/wgmma.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out: per warpgroup cycles from the meeting to the end of issuing, and to the return of the wait; means of the later half.
extern "C" __global__ void __launch_bounds__(384)
waiting_products(long long *out, int turns, int idle, float x) {
    for (u32 i = threadIdx.x; i < (128 << 10) / 4; i += blockDim.x) ((u32 *)arena)[i] = 0;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const u32 group = threadIdx.x / 128;
    float d[WGMMA_ACCUMULATORS];
    for (int i = 0; i < WGMMA_ACCUMULATORS; ++i) d[i] = x;
    const u64 a = wgmma_descriptor(shared_address(arena) + 8192 * group, 1024, 128);
    const u64 b = wgmma_descriptor(shared_address(arena) + 32768, 16 * WGMMA_N, 128);
    long long issued = 0, returned = 0;
    for (int t = 0; t < turns; ++t) {
        spin(idle);
        __syncthreads();
        const long long met = cycles();
        wgmma_fence();
#pragma unroll
        for (int u = 0; u < PER_GROUP; ++u) wgmma(d, a + (2048 >> 4) * (u % 4), b + (2 * 16 * WGMMA_N >> 4) * (u % 4), 1);
        wgmma_commit();
        const long long asked = cycles();
        wgmma_wait<PENDING>();
        const long long waited = cycles();
        if (t >= turns / 2) {
            issued += asked - met;
            returned += waited - met;
        }
    }
    wgmma_wait<0>();
    float sum = 0.f;
    for (int i = 0; i < WGMMA_ACCUMULATORS; ++i) sum += d[i];
    if (sum == 1234.5f) ++issued;
    if (threadIdx.x % 128 == 0) {
        const int counted = turns - turns / 2;
        out[2 * group] = issued / counted;
        out[2 * group + 1] = returned / counted;
    }
}
