// Bulk copies that several lanes of a warp issue: the compiler makes a loop over those lanes (ELECT) of it.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// `copies` bulk copies for one mbarrier by `lanes` lanes of a warp, while the other warps of the CTA compute. out[r]: cycles
// until the last lane has issued its last copy.
extern "C" __global__ void elected(long long *out, const unsigned char *source, u32 bytes, int copies, int lanes,
                                     int repeats) {
    __shared__ __align__(8) u64 storage;
    __shared__ volatile int done;
    u32 barrier = shared_address(&storage), to = shared_address(arena);
    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        barrier_init_fence();
        done = 0;
    }
    __syncthreads();
    if (threadIdx.x >= 32) {
        float sum[8] = {};
        while (!done) {
#pragma unroll 16
            for (int i = 0; i < 64; ++i)
#pragma unroll
                for (int k = 0; k < 8; ++k) sum[k] = fmaf(sum[k], 1.0001f, 0.5f);
        }
        float all = 0.f;
        for (int k = 0; k < 8; ++k) all += sum[k];
        if (all == 123.f) out[0] = 0;
        return;
    }
    const int lane = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        if (lane == 0) barrier_expect(barrier, bytes * copies);
        __syncwarp();
        long long start = cycles();
#pragma unroll 1
        for (int i = lane; i < copies; i += lanes)
            if (lane < lanes) bulk_load(to + i * bytes, source + i * bytes, bytes, barrier);
        __syncwarp();
        long long stop = cycles();
        barrier_wait(barrier, r & 1);
        if (lane == 0) out[r] = stop - start;
    }
    __syncwarp();
    if (lane == 0) done = 1;
}
