// Products by mma.sync of fragments that ldmatrix loads, while other warps of the CTA copy by cp.async: COUNT copies of 16
// bytes a lane in rows of ROW bytes, COPY_PITCH apart in shared and 4 KiB in global memory, then all of them land, then a
// pause.
#include "fragments.cuh"

extern __shared__ __align__(128) unsigned char arena[];
constexpr int LANES = ROW / 16;

// The first `warps` of the CTA multiply, and meet each turn. out: cycles of all their turns, and how often the others
// have copied meanwhile.
extern "C" __global__ void beside_copies(long long *out, const char *source, int turns, int warps, int pause) {
    __shared__ Stopwatch watch;
    __shared__ volatile int done, quit;
    for (u32 i = threadIdx.x; i < BYTES / 4; i += blockDim.x) ((u32 *)arena)[i] = 0;
    const u32 base = shared_address(arena);
    if (threadIdx.x == 0) done = 0;
    stopwatch_reset(&watch);
    const int multiplying = 32 * warps;
    if (threadIdx.x < multiplying) {
        float sum[ROWS][COLUMNS][4] = {};
        Fragments of;
        const long long start = cycles();
#pragma unroll 1
        for (int t = 0; t < turns; ++t) {
            asm volatile("bar.sync 1, %0;" ::"r"(multiplying) : "memory");
#pragma unroll
            for (int k = 0; k < STEPS; ++k) {
                fetch(of, base, t % 2 * DEPTH, k);
                multiply(sum, of);
            }
        }
        const long long stop = cycles();
        asm volatile("bar.sync 1, %0;" ::"r"(multiplying) : "memory");
        stopwatch_add(&watch, start, stop);
        done = 1;
        if (total(sum) == 1234.5f) out[0] = 0;
    } else {
        const int own = threadIdx.x - multiplying, copying = blockDim.x - multiplying;
        const int row = own / LANES, part = own % LANES, step = copying / LANES;
        const u32 to = base + BYTES + row * COPY_PITCH + 16 * part;
        for (long long rounds = 0;; ++rounds) {
            if (own == 0) quit = done;
            asm volatile("bar.sync 2, %0;" ::"r"(copying) : "memory");
            if (own == 0) out[1] = rounds;
            if (quit) break;
            const char *from = source + rounds % 8 * 65536 + row * 4096ll + 16 * part;
#pragma unroll
            for (int i = 0; i < COUNT; ++i)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i * step * COPY_PITCH),
                             "l"(from + i * step * 4096ll)
                             : "memory");
            asm volatile("cp.async.wait_all;" ::: "memory");
            spin(pause);
            asm volatile("bar.sync 2, %0;" ::"r"(copying) : "memory");
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[0] = watch.last - watch.first;
}
