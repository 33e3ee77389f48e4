// What time stamps of probe.cuh take in a tile pipeline: a ring of cp.async whose turns issue a copy, wait for an older
// one, meet and compute, each of which begins with a stamp. All warps take them and no SM writes any.
//
// Compile-time constants (-D): STAMPED or not, FMA (per vector and component, in a row).
#ifdef STAMPED
#define PROBE 1
#endif
#include "../_harness/probe.cuh"
#include "common.cuh"

constexpr int STAGES = 4;

// Each thread copies `vectors` times 16 bytes a turn. out per warp: cycles of all turns.
extern "C" __global__ void __launch_bounds__(1024 PROBE_RESIDENT)
time_stamps(long long *out, const float4 *source, int turns, int vectors, float a PROBE_PARAMETER) {
    extern __shared__ float4 ring[];
    const u32 stride = 16 * blockDim.x, tile = vectors * stride, all = STAGES * tile;
    const u32 first = shared_address(ring) + 16 * threadIdx.x;
    const float4 *from = source + threadIdx.x;
    float sum = 0.f;
    const auto issue = [&](u32 to) {
#pragma unroll 1
        for (u32 at = to; at < to + tile; at += stride) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
            from += blockDim.x;
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    PROBE_BEGIN(threadIdx.x / 32 < 16 ? (int)threadIdx.x / 32 : -1)
    for (int t = 0; t < STAGES - 1; ++t) issue(first + t * tile);
    __syncthreads();
    const long long begin = cycles();
    u32 read = 0, write = (STAGES - 1) * tile;
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
        PROBE_ENTER(PROBE_WAIT_COPY, t, read);
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        PROBE_ENTER(PROBE_BARRIER, t, read);
        __syncthreads();
        PROBE_MET();
        PROBE_ENTER(PROBE_ISSUE, t + STAGES - 1, write);
        if (t % 16 == 0) from = source + threadIdx.x;   // what is read stays in L2
        issue(first + write);
        PROBE_ENTER(PROBE_COMPUTE, t, read);
#pragma unroll 1
        for (u32 at = first + read; at < first + read + tile; at += stride) {
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
        if ((read += tile) == all) read = 0;
        if ((write += tile) == all) write = 0;
    }
    const long long end = cycles();
    PROBE_LEAVE();
    if (sum == 12345.f) out[0] = 0;
    if (threadIdx.x % 32 == 0) out[blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32] = end - begin;
}
