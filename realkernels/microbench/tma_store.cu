// Bulk copies shared -> global, one issuing thread per CTA. IN_FLIGHT groups may still be reading
// shared memory when the next one is issued (the wait's operand must be a constant).
#include "common.cuh"


extern __shared__ __align__(128) unsigned char arena[];

// out[2i]: issue to wait_group.read 0 (source reusable); out[2i + 1]: to wait_group 0 (written).
extern "C" __global__ void store_latency(long long *out, unsigned char *target, u32 bytes, u64 step, u64 range,
                                         int copies) {
    if (threadIdx.x != 0) return;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    u64 offset = 0;
#pragma unroll 1
    for (int i = 0; i < copies; ++i) {
        long long start = cycles();
        bulk_store(target + offset, shared_address(arena), bytes);
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        long long read = cycles();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        long long written = cycles();
        out[2 * i] = read - start;
        out[2 * i + 1] = written - start;
        offset = (offset + step) & (range - 1);
    }
}

// out[cta]: cycles until all copies of the CTA are written; out[grid + cta]: SM.
extern "C" __global__ void store_ring(long long *out, unsigned char *target, u32 bytes, int copies, u64 range) {
    if (threadIdx.x != 0) return;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    u64 offset = ((u64)blockIdx.x * bytes) & (range - 1), step = (u64)gridDim.x * bytes;
    int slot = 0;
    long long start = cycles();
#pragma unroll 1
    for (int i = 0; i < copies; ++i) {
        bulk_store(target + offset, shared_address(arena) + slot * bytes, bytes);
        offset = (offset + step) & (range - 1);
        slot = slot + 1 == IN_FLIGHT ? 0 : slot + 1;
#if IN_FLIGHT == 1
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#elif IN_FLIGHT == 2
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
#else
        asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory");
#endif
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    out[blockIdx.x] = cycles() - start;
    out[gridDim.x + blockIdx.x] = sm_id();
}
