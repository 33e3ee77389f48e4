// What CTAs of a cluster do for each other: bulk copies that all of them get, arrivals at barriers of others, barriers of
// all. CLUSTER CTAs each.
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

// Of the scope of a CTA, as everybody does it: that of the cluster takes a fence of some 350 cycles.
__device__ __forceinline__ void arrive_in(u32 barrier, u32 rank) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(in_cta(barrier, rank)) : "memory");
}

__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#ifdef TILE
__device__ __forceinline__ void bulk_multicast(u32 to, const void *from, u32 bytes, u32 barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::
            "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier), "h"((unsigned short)((1 << CLUSTER) - 1))
        : "memory");
}

// A ring of tiles. Of each every CTA asks for an equal part, which all of them get (MULTICAST), or for all of it.
// out per CTA: cycles of all turns but the first STAGES; then the median of single copies, issue to arrival.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(32 + 32 * CONSUMERS)
ring(long long *out, const unsigned char *source, int tiles, int turns) {
    constexpr int PART = MULTICAST ? TILE / CLUSTER : TILE, SHARERS = MULTICAST ? CLUSTER : 1, ONES = 9;
    __shared__ u64 full[STAGES], empty[STAGES], single;
    const u32 rank = cluster_rank(), lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(shared_address(full + s), 1);
            barrier_init(shared_address(empty + s), SHARERS * CONSUMERS);
        }
        barrier_init(shared_address(&single), 1);
        barrier_init_fence();
    }
    cluster_sync();
    // Clusters read different tiles, and without multicast so do their CTAs.
    const int first = (MULTICAST ? blockIdx.x / CLUSTER : blockIdx.x) * 7;
    const u32 offset = MULTICAST ? rank * PART : 0;
    const auto get = [&](int t, u32 to, u32 barrier) {
        const unsigned char *from = source + (u64)((first + t) % tiles) * TILE + offset;
        barrier_expect(barrier, TILE);
        if (MULTICAST) bulk_multicast(to + offset, from, PART, barrier);
        else bulk_load(to + offset, from, PART, barrier);
    };
    long long least = 1 << 30;
    for (int t = 0; t < ONES; ++t) {
        cluster_sync();
        if (threadIdx.x == 0) {
            const long long start = cycles();
            get(t, shared_address(arena), shared_address(&single));
            barrier_wait(shared_address(&single), t & 1);
            const long long took = cycles() - start;
            if (t) least = took < least ? took : least;
        }
    }
    cluster_sync();
    if (threadIdx.x == 0) {
        for (int t = 0; t < turns; ++t) {
            const int s = t % STAGES;
            if (t >= STAGES) barrier_wait(shared_address(empty + s), (t / STAGES - 1) & 1);
            get(t, shared_address(arena) + s * TILE, shared_address(full + s));
        }
        out[2 * blockIdx.x + 1] = least;
    } else if (threadIdx.x >= 32) {
        long long start = 0;
        for (int t = 0; t < turns; ++t) {
            const int s = t % STAGES;
            if (lane == 0) barrier_wait(shared_address(full + s), t / STAGES & 1);
            __syncwarp();
            if (t == STAGES) start = cycles();
            if (lane < SHARERS) arrive_in(shared_address(empty + s), MULTICAST ? lane : rank);
        }
        if (threadIdx.x == 32) out[2 * blockIdx.x] = cycles() - start;
    }
    // No CTA may end while others still arrive here.
    cluster_sync();
}
#else
// Barriers of the whole cluster. out per CTA: cycles.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(1024)
barrier(long long *out, int rounds) {
    for (int r = 0; r < 4; ++r) cluster_sync();
    const long long start = cycles();
    for (int r = 0; r < rounds; ++r) cluster_sync();
    if (threadIdx.x == 0) out[blockIdx.x] = cycles() - start;
}

// One warp of the first CTA and one of the last arrive at each other's barriers in turn. out: cycles.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(64) ping_pong(long long *out, int rounds) {
    __shared__ u64 mine[2];
    const u32 rank = cluster_rank();
    if (threadIdx.x == 0) {
        barrier_init(shared_address(mine), 1);
        barrier_init(shared_address(mine + 1), 1);
        barrier_init_fence();
    }
    cluster_sync();
    // With a single CTA its two warps play.
    const bool serves = rank == 0 && threadIdx.x == 0, returns = rank == CLUSTER - 1 && threadIdx.x == 32;
    const long long start = cycles();
    if (serves) {
        for (int r = 0; r < rounds; ++r) {
            arrive_in(shared_address(mine + 1), CLUSTER - 1);
            barrier_wait(shared_address(mine), r & 1);
        }
        if (blockIdx.x < CLUSTER) *out = cycles() - start;
    }
    if (returns) {
        for (int r = 0; r < rounds; ++r) {
            barrier_wait(shared_address(mine + 1), r & 1);
            arrive_in(shared_address(mine), 0);
        }
    }
    cluster_sync();
}

// out per CTA: its SM. All are there at the same time.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(64) places(long long *out, int duration) {
    spin(duration);
    if (threadIdx.x == 0) out[blockIdx.x] = sm_id();
}
#endif
