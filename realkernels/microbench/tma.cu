// Bulk copies global -> shared, one issuing thread per CTA: latency, issue cost, ring throughput, and
// the load-wait-compute loop without a ring that shows whether SMs fall into step on HBM.
// Source offsets are masked to the power-of-two `range`, so one buffer serves the
// L2-resident (small range, touched before) and the DRAM case (large range, cold).
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

#define MAX_STAGES 16

// out[i]: cycles from before the expect_tx to the return of the wait, copy i.
extern "C" __global__ void tma_latency(long long *out, const unsigned char *source, u32 bytes, u64 step, u64 range,
                                       int copies) {
    __shared__ __align__(8) u64 storage;
    if (threadIdx.x != 0) return;
    u32 barrier = shared_address(&storage);
    barrier_init(barrier, 1);
    barrier_init_fence();
    u64 offset = 0;
#pragma unroll 1
    for (int i = 0; i < copies; ++i) {
        long long start = cycles();
        barrier_expect(barrier, bytes);
        bulk_load(shared_address(arena), source + offset, bytes, barrier);
        barrier_wait(barrier, i & 1);
        long long stop = cycles();
        out[i] = stop - start;
        offset = (offset + step) & (range - 1);
    }
}

// out[2r]: cycles for one thread to issue `copies` copies; out[2r + 1]: until the last has landed.
extern "C" __global__ void tma_issue(long long *out, const unsigned char *source, u32 bytes, int copies, int repeats) {
    __shared__ __align__(8) u64 storage;
    if (threadIdx.x != 0) return;
    u32 barrier = shared_address(&storage);
    barrier_init(barrier, 1);
    barrier_init_fence();
    u32 to = shared_address(arena);
#pragma unroll 1
    for (int r = 0; r < repeats; ++r) {
        barrier_expect(barrier, bytes * copies);
        long long start = cycles();
#pragma unroll 1
        for (int i = 0; i < copies; ++i) bulk_load(to + i * bytes, source + i * bytes, bytes, barrier);
        long long stop = cycles();
        barrier_wait(barrier, r & 1);
        long long landed = cycles();
        out[2 * r] = stop - start;
        out[2 * r + 1] = landed - start;
    }
}

// A ring of `stages` copies in flight, reissued as they land. Tiles are dealt to CTAs in turn, as a
// persistent kernel does. out[cta]: cycles, first issue to last arrival; out[grid + cta]: SM.
extern "C" __global__ void tma_ring(long long *out, const unsigned char *source, u32 bytes, int stages, int copies,
                                    u64 range) {
    __shared__ __align__(8) u64 storage[MAX_STAGES];
    if (threadIdx.x != 0) return;
    u32 barrier = shared_address(storage), to = shared_address(arena);
    for (int s = 0; s < stages; ++s) barrier_init(barrier + 8 * s, 1);
    barrier_init_fence();
    u64 offset = ((u64)blockIdx.x * bytes) & (range - 1), step = (u64)gridDim.x * bytes;
    long long start = cycles();
#pragma unroll 1
    for (int s = 0; s < stages; ++s) {
        barrier_expect(barrier + 8 * s, bytes);
        bulk_load(to + s * bytes, source + offset, bytes, barrier + 8 * s);
        offset = (offset + step) & (range - 1);
    }
    int stage = 0;
    u32 parity = 0;
#pragma unroll 1
    for (int i = 0; i < copies; ++i) {
        barrier_wait(barrier + 8 * stage, parity);
        if (i + stages < copies) {
            barrier_expect(barrier + 8 * stage, bytes);
            bulk_load(to + stage * bytes, source + offset, bytes, barrier + 8 * stage);
            offset = (offset + step) & (range - 1);
        }
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
    out[blockIdx.x] = cycles() - start;
    out[gridDim.x + blockIdx.x] = sm_id();
}

// Load, wait, spin `delay` cycles, again. out per CTA: cycles; SM; first and last global-timer stamp.
extern "C" __global__ void burst(long long *out, const unsigned char *source, u32 bytes, int delay, int turns,
                                 u64 range) {
    __shared__ __align__(8) u64 storage;
    if (threadIdx.x != 0) return;
    u32 barrier = shared_address(&storage), to = shared_address(arena);
    barrier_init(barrier, 1);
    barrier_init_fence();
    u64 offset = ((u64)blockIdx.x * bytes) & (range - 1), step = (u64)gridDim.x * bytes;
    u64 first = nanoseconds();
    long long start = cycles();
#pragma unroll 1
    for (int i = 0; i < turns; ++i) {
        barrier_expect(barrier, bytes);
        bulk_load(to, source + offset, bytes, barrier);
        offset = (offset + step) & (range - 1);
        barrier_wait(barrier, i & 1);
        if (delay) spin(delay);
    }
    long long *mine = out + 4 * blockIdx.x;
    mine[0] = cycles() - start;
    mine[1] = sm_id();
    mine[2] = (long long)first;
    mine[3] = (long long)nanoseconds();
}

// Who is served first: each CTA issues `copies` copies at once and stamps their arrivals in order. CTAs of one
// SM begin together. out per CTA: SM, then per copy the cycles from the common start to its arrival.
extern "C" __global__ void tma_order(long long *out, const unsigned char *source, u32 bytes, int copies, long long lead) {
    __shared__ __align__(8) u64 storage[MAX_STAGES];
    if (threadIdx.x != 0) return;
    u32 barrier = shared_address(storage), to = shared_address(arena);
    for (int s = 0; s < copies; ++s) barrier_init(barrier + 8 * s, 1);
    barrier_init_fence();
    // The SM's clock is common to its CTAs: all wait for the same multiple of `lead`.
    long long start = (cycles() / lead + 2) * lead;
    while (cycles() < start) {
    }
    const unsigned char *from = source + (u64)blockIdx.x * copies * bytes;
#pragma unroll 1
    for (int s = 0; s < copies; ++s) {
        barrier_expect(barrier + 8 * s, bytes);
        bulk_load(to + s * bytes, from + (u64)s * bytes, bytes, barrier + 8 * s);
    }
    long long *mine = out + (long long)blockIdx.x * (copies + 1);
    mine[0] = sm_id();
#pragma unroll 1
    for (int s = 0; s < copies; ++s) {
        barrier_wait(barrier + 8 * s, 0);
        mine[1 + s] = cycles() - start;
    }
}
