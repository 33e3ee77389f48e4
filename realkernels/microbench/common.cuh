// Shared by every calibration kernel: clocks, the all-warps stopwatch, mbarrier and bulk-copy PTX.
// No system header is included, so that NVRTC needs no include path but this folder.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

// ---- clocks ----------------------------------------------------------------------------------

// The memory clobber keeps loads, stores and other volatile assembly on their own side of the stamp.
__device__ __forceinline__ long long cycles() {
    long long t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

// Stamp after `value` is there. Reading a register with the clock would not do it: the read does not
// wait for a value it does not use. A store to shared memory does, at the price of one issue slot.
__device__ __forceinline__ long long cycles_after(u32 value, u32 *sink) {
    long long t;
    asm volatile("st.volatile.shared.u32 [%1], %2;\n mov.u64 %0, %%clock64;"
                 : "=l"(t)
                 : "r"((u32)__cvta_generic_to_shared(sink)), "r"(value)
                 : "memory");
    return t;
}

// Stamp once `v` is there, by a predicate that depends on it; needs no shared memory.
__device__ __forceinline__ long long cycles_with(u32 v) {
    long long t = 0;
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0x12345677; @p mov.u64 %0, %%clock64;}" : "+l"(t) : "r"(v) : "memory");
    return t;
}

__device__ __forceinline__ u64 nanoseconds() {
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

__device__ __forceinline__ u32 sm_id() {
    u32 id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

__device__ __forceinline__ void spin(long long duration) {
    long long start = cycles();
    while (cycles() - start < duration) {
    }
}

// First stamp of any warp to last stamp of any warp: a single warp's own time would miss the tail
// of the others and flatter throughput.
struct Stopwatch {
    u64 first;
    u64 last;
};

__device__ __forceinline__ void stopwatch_reset(Stopwatch *watch) {
    __syncthreads();
    if (threadIdx.x == 0) {
        watch->first = ~0ull;
        watch->last = 0;
    }
    __syncthreads();
}

__device__ __forceinline__ void stopwatch_add(Stopwatch *watch, long long start, long long stop) {
    if ((threadIdx.x & 31) == 0) {
        atomicMin(&watch->first, (u64)start);
        atomicMax(&watch->last, (u64)stop);
    }
}

__device__ __forceinline__ void stopwatch_store(Stopwatch *watch, long long *out) {
    __syncthreads();
    if (threadIdx.x == 0) *out = (long long)(watch->last - watch->first);
}

// ---- shared memory, mbarrier -----------------------------------------------------------------

__device__ __forceinline__ u32 shared_address(const void *p) {
    return (u32)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void barrier_init(u32 barrier, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

// Makes initialised barriers visible to the copy unit as well as to the other threads.
__device__ __forceinline__ void barrier_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void barrier_invalidate(u32 barrier) {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ u32 barrier_try_wait(u32 barrier, u32 parity) {
    u32 done;
    asm volatile(
        "{\n .reg .pred p;\n"
        " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        " selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
    return done;
}

__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
    while (!barrier_try_wait(barrier, parity)) {
    }
}

// ---- bulk copies -----------------------------------------------------------------------------

__device__ __forceinline__ void bulk_load(u32 to, const void *from, u32 bytes, u32 barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
        : "memory");
}

__device__ __forceinline__ void bulk_store(void *to, u32 from, u32 bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(from), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
