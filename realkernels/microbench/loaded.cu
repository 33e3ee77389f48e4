// Loads beside stores: what a load waits for when others write. One warp loads and waits, load by load;
// the others store at their own pace; both until the time is over. Only what begins after `warm_up`
// cycles counts, when L2 has begun to write back.
// STORE 0: bulk stores by one thread, at most one still reading shared memory; 1: st.global by four warps.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

// out per CTA: SM; loads; their cycles; bytes stored; cycles from a store to its next; cycles counted.
extern "C" __global__ void loaded(long long *out, const unsigned char *source, unsigned char *target, u32 load_bytes,
                                  u32 store_bytes, int load_delay, int store_delay, u64 range, u64 target_range,
                                  long long warm_up, long long duration) {
    __shared__ __align__(8) u64 storage;
    long long *mine = out + 6 * blockIdx.x;
    u32 barrier = shared_address(&storage), to = shared_address(arena);
    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        barrier_init_fence();
        mine[0] = sm_id();
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const long long start = cycles();
    if (threadIdx.x / 32 == 0) {
        if (threadIdx.x != 0 || load_bytes == 0) return;
        u64 offset = ((u64)blockIdx.x * load_bytes) & (range - 1), step = (u64)gridDim.x * load_bytes;
        long long count = 0, sum = 0;
        for (int turn = 0;; ++turn) {
            long long before = cycles();
            if (before - start > duration) break;
            barrier_expect(barrier, load_bytes);
            bulk_load(to, source + offset, load_bytes, barrier);
            offset = (offset + step) & (range - 1);
            barrier_wait(barrier, turn & 1);
            if (before - start > warm_up) {
                sum += cycles() - before;
                ++count;
            }
            if (load_delay) spin(load_delay);
        }
        mine[1] = count;
        mine[2] = sum;
        mine[5] = duration - warm_up;
        return;
    }
    if (store_bytes == 0) return;
    u64 offset = ((u64)blockIdx.x * store_bytes) & (target_range - 1), step = (u64)gridDim.x * store_bytes;
    long long bytes = 0, busy = 0, before = cycles();
#if STORE == 0
    if (threadIdx.x != 32) return;
    for (;;) {
        before = cycles();
        if (before - start > duration) break;
        bulk_store(target + offset, to + load_bytes, store_bytes);
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        offset = (offset + step) & (target_range - 1);
        if (before - start > warm_up) {
            busy += cycles() - before;
            bytes += store_bytes;
        }
        if (store_delay) spin(store_delay);
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    const bool speaks = true;
#else
    const int thread = threadIdx.x - 32;
    const int count = store_bytes / 2048;   // four warps, 16 bytes a lane
    for (;;) {
        before = cycles();
        if (before - start > duration) break;
        for (int i = 0; i < count; ++i)
            asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(target + offset + 2048 * i + 16 * thread),
                         "r"((u32)bytes)
                         : "memory");
        offset = (offset + step) & (target_range - 1);
        if (before - start > warm_up) {
            busy += cycles() - before;
            bytes += store_bytes;
        }
        if (store_delay) spin(store_delay);
    }
    const bool speaks = thread == 0;
#endif
    if (speaks) {
        mine[3] = bytes;
        mine[4] = busy;
        mine[5] = duration - warm_up;
    }
}
