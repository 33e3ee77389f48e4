// Bytes that several SMs read of the same lines at the same time. One CTA on each SM keeps STAGES bulk copies of
// TILE bytes under way (BULK), or its threads loads of 16 bytes past L1. CTAs of a group go through the same tiles,
// each `lag` tiles behind the one before.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out per CTA: cycles, SM.
extern "C" __global__ void __launch_bounds__(512)
sharing(long long *out, const uint4 *source, int tiles, int groups, int order, int lag, int turns) {
    __shared__ u64 barriers[STAGES];
    const int place = order ? blockIdx.x : sm_id();
    const int members = gridDim.x / groups;
    // Members of a group lie side by side in the grid (1), a stride apart (2), or on SMs side by side (0).
    const int group = order == 2 ? place % groups : place / members;
    const int member = order == 2 ? place / groups : place % members;
    const uint4 *mine = source + (u64)group * tiles * (TILE / 16);
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) barrier_init(shared_address(barriers + s), 1);
        barrier_init_fence();
    }
    __syncthreads();
    int at = member * lag % tiles;
    const long long start = cycles();
#if BULK
    if (threadIdx.x == 0) {
        for (int t = 0; t < turns + STAGES; ++t) {
            const int s = t % STAGES;
            const u32 barrier = shared_address(barriers + s);
            if (t >= STAGES) barrier_wait(barrier, (t / STAGES - 1) & 1);
            if (t < turns) {
                barrier_expect(barrier, TILE);
                bulk_load(shared_address(arena) + s * TILE, mine + (u64)at * (TILE / 16), TILE, barrier);
                if (++at == tiles) at = 0;
            }
        }
    }
#else
    u32 rest = 0;
    for (int t = 0; t < turns; ++t) {
        uint4 v[TILE / 16 / 512];
#pragma unroll
        for (int u = 0; u < TILE / 16 / 512; ++u) v[u] = __ldcg(mine + (u64)at * (TILE / 16) + u * 512 + threadIdx.x);
#pragma unroll
        for (int u = 0; u < TILE / 16 / 512; ++u) rest ^= v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
        if (++at == tiles) at = 0;
    }
    if (rest == 0x12345678u) out[0] = 0;
#endif
    __syncthreads();
    const long long stop = cycles();
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = stop - start;
        out[2 * blockIdx.x + 1] = sm_id();
    }
}
