// Clusters of CTAs, as inline PTX; needs sm_90. As in CUTLASS, arrivals in other CTAs are of the default scope.
#pragma once
#include "mbarrier.cuh"

__device__ __forceinline__ unsigned int cluster_rank() {
  unsigned int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// All threads of all CTAs of the cluster.
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
}

// The address that `address` of this CTA has in CTA `rank` of the cluster.
__device__ __forceinline__ unsigned int in_cta(unsigned int address, unsigned int rank) {
  unsigned int there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

__device__ __forceinline__ float4 load_in_cluster(unsigned int address) {
  float4 x;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "r"(address));
  return x;
}

// Arrive at the barrier that CTA `rank` of the cluster has at the same address.
__device__ __forceinline__ void mbarrier_arrive_in(unsigned int barrier, unsigned int rank) {
  asm volatile(
      "{\n"
      "  .reg .b32 there;\n"
      "  mapa.shared::cluster.u32 there, %0, %1;\n"
      "  mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}" ::"r"(barrier), "r"(rank)
      : "memory");
}

// As bulk_copy, to the same address in each of the first `ctas` CTAs of the cluster, whose barriers count the bytes.
__device__ __forceinline__ void bulk_copy_multicast(unsigned int to, const void* from, unsigned int bytes,
                                                    unsigned int barrier, unsigned int ctas) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::
          "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier), "h"((unsigned short)((1u << ctas) - 1))
      : "memory");
}
