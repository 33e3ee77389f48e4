// Shared memory of other CTAs of a cluster (distributed shared memory): loads from it, stores to it. CLUSTER CTAs each.
#include "common.cuh"

extern __shared__ __align__(128) unsigned char arena[];

__device__ __forceinline__ u32 cluster_rank() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// The address that `address` of this CTA has in CTA `rank` of its cluster.
__device__ __forceinline__ u32 in_cta(u32 address, u32 rank) {
    u32 there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

__device__ __forceinline__ u32 next_cta() {
    return (cluster_rank() + 1) % CLUSTER;
}

__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The first thread of each cluster loads words of the next CTA, each at the place that the one before it names.
// out per cluster: cycles.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(32) chain(long long *out, int rounds) {
    constexpr int WORDS = 1024, BEFORE = 64;
    u32 *words = (u32 *)arena;
    for (int i = threadIdx.x; i < WORDS; i += 32) words[i] = 4 * ((i + 32) % WORDS);
    cluster_sync();
    if (cluster_rank() == 0 && threadIdx.x == 0) {
        const u32 there = in_cta(shared_address(words), next_cta());
        u32 at = 0;
        long long start = 0;
        for (int r = -BEFORE; r < rounds; ++r) {
            if (r == 0) start = cycles();
            asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(at) : "r"(there + at));
        }
        out[blockIdx.x / CLUSTER] = cycles_with(at) - start;
    }
    cluster_sync();
}

#ifdef WIDTH
enum { LOADS, STORES };

__device__ __forceinline__ u32 load(u32 a) {
    u32 x, y = 0, z = 0, w = 0;
    if (WIDTH == 4)
        asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(x) : "r"(a));
    else if (WIDTH == 8)
        asm volatile("ld.volatile.shared::cluster.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(a));
    else
        asm volatile("ld.volatile.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(a));
    return x ^ y ^ z ^ w;
}

__device__ __forceinline__ u32 load_own(u32 a) {
    u32 x, y, z, w;
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(a));
    return x ^ y ^ z ^ w;
}

__device__ __forceinline__ void store(u32 a, u32 v) {
    if (WIDTH == 4)
        asm volatile("st.volatile.shared::cluster.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory");
    else if (WIDTH == 8)
        asm volatile("st.volatile.shared::cluster.v2.u32 [%0], {%1, %1};" ::"r"(a), "r"(v) : "memory");
    else
        asm volatile("st.volatile.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(a), "r"(v) : "memory");
}

// WARPS of each CTA load from the next one or store there (OP), or in each turn in another one (ANY: at random), AHEAD
// instructions a turn that begin OFFSET bytes behind a line, and OWN others meanwhile load 16 bytes a lane from their own
// shared memory. out per CTA: cycles of the former, first to last; all own loads until then, and the cycles of these.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(32 * (WARPS + OWN))
flood(long long *out, int turns, u32 *sink) {
    __shared__ Stopwatch watch;
    __shared__ volatile int stop;
    __shared__ u32 own_loads;
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, area = shared_address(arena);
    if (threadIdx.x == 0) stop = own_loads = 0;
    stopwatch_reset(&watch);
    cluster_sync();
    u32 x = 0;
    long long took = 0;
    const long long start = cycles();
    if (warp < WARPS) {
        const u32 at = area + OFFSET + WIDTH * lane + 512 * warp, rank = cluster_rank();
        u32 there = in_cta(at, next_cta()), drawn = 97 * blockIdx.x + 31 * warp + 1;
        for (int t = 0; t < turns; ++t) {
            if (ANY) {
                drawn = 1664525 * drawn + 1013904223;
                there = in_cta(at, (rank + 1 + (drawn >> 8) % (CLUSTER - 1)) % CLUSTER);
            }
            u32 got[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; ++i) {
                if (OP == LOADS) got[i] = load(there + 1024 * i);
                else store(there + 1024 * i, t);
            }
            if (OP == LOADS) {
#pragma unroll
                for (int i = 0; i < AHEAD; ++i) x ^= got[i];
                asm volatile("" ::"r"(x) : "memory");
            }
        }
        stopwatch_add(&watch, start, cycles());
        if (lane == 0) stop = 1;
    } else {
        u32 own = 0;
        while (!stop) {
            u32 got[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) got[i] = load_own(area + 16 * lane + 1024 * i);
#pragma unroll
            for (int i = 0; i < 8; ++i) x ^= got[i];
            asm volatile("" ::"r"(x) : "memory");
            own += 8;
        }
        took = cycles() - start;
        if (lane == 0) atomicAdd(&own_loads, own);
    }
    if (x == 0x12345677) *sink = x;
    stopwatch_store(&watch, out + 3 * blockIdx.x);
    if (threadIdx.x == 32 * WARPS) {
        out[3 * blockIdx.x + 1] = own_loads;
        out[3 * blockIdx.x + 2] = took;
    }
    cluster_sync();
}
#endif

#ifdef COUNT
// Each thread stores COUNT times 16 bytes into the next CTA, and the cluster meets. out per CTA: cycles.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(512) store_and_meet(long long *out, int rounds) {
    const u32 there = in_cta(shared_address(arena), next_cta()) + 16 * threadIdx.x;
    cluster_sync();
    const long long start = cycles();
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            asm volatile("st.volatile.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(there + 8192 * i), "r"(r) : "memory");
        cluster_sync();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = cycles() - start;
}
#endif
