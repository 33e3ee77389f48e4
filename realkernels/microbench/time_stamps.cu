// What a time stamp of probe.cuh takes: turns with none, one or two of them around the work of a tile pipeline, a
// loop that loads from shared memory and computes; and turns of up to eight, one behind the other, before a barrier.
//
// Compile-time constants (-D): STAMPS per turn, FMA (per vector and component, in a row).
#define PROBE 1
#include "../_harness/probe.cuh"
#include "common.cuh"

// out per warp: cycles of all turns; no warp writes its stamps.
extern "C" __global__ void __launch_bounds__(1024 PROBE_RESIDENT)
stamps_in_a_row(long long *out, ProbeLane *lanes, ProbeStamp *stamps, int turns) {
    Probe probe(lanes, stamps, 0, (int)sm_id(), -1, -1);
    __syncthreads();
    const long long begin = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
#pragma unroll
        for (int i = 0; i < STAMPS; ++i) probe.enter(PROBE_COMPUTE, t, i);
        __syncthreads();
    }
    const long long end = cycles();
    probe.leave();   // else no stamp is used, and the compiler leaves all of them out
    if (threadIdx.x % 32 == 0) out[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = end - begin;
}

// The same. Warps below `recorded` write their stamps, the others only take them.
extern "C" __global__ void __launch_bounds__(1024 PROBE_RESIDENT)
time_stamps(long long *out, ProbeLane *lanes, ProbeStamp *stamps, int capacity, int turns, int vectors, int recorded, float a) {
    extern __shared__ float4 tile[];
    const int warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < vectors * blockDim.x; i += blockDim.x) tile[i] = make_float4(a, a, a, a);
    u32 first = (u32)__cvta_generic_to_shared(tile + threadIdx.x), step = 16 * blockDim.x, past = first + vectors * step;
    asm volatile("" : "+r"(first), "+r"(step), "+r"(past), "+r"(turns), "+f"(a));   // else they are made again every turn
    float sum = 0.f;
    Probe probe(lanes, stamps, capacity, (int)sm_id(), -1, warp < recorded ? warp : -1);
    __syncthreads();
    const long long begin = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
        if (STAMPS > 0) probe.enter(STAMPS > 1 ? PROBE_COMPUTE : PROBE_WAIT_STAGE, t, 0);
#pragma unroll 1
        for (u32 at = first; at < past; at += step) {
            float4 x;
            asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "r"(at) : "memory");
#pragma unroll
            for (int i = 0; i < FMA; ++i) {
                x.x = fmaf(x.x, a, a);
                x.y = fmaf(x.y, a, a);
                x.z = fmaf(x.z, a, a);
                x.w = fmaf(x.w, a, a);
            }
            sum += x.x + x.y + x.z + x.w;
        }
        __syncwarp();
        if (STAMPS > 1) probe.enter(PROBE_WAIT_STAGE, t, 0);
    }
    const long long end = cycles();
    probe.leave();
    if (sum == 12345.f) out[0] = 0;
    if (threadIdx.x % 32 == 0) out[blockIdx.x * (blockDim.x / 32) + warp] = end - begin;
}
