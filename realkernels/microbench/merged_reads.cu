// Which reads of several SMs that want the same lines L2 answers once: bulk copies, cp.async in rows that lie in shared
// memory as they do in memory or not, and loads past L1. Each CTA keeps STAGES tiles of TILE bytes under way, or without
// stages the loads of one; `members` CTAs next to each other go through the same tiles. What is read begins OFFSET bytes
// off a line; with SWIZZLED the parts of a row lie in shared memory in another order for each row.
#include "common.cuh"

constexpr int BULK = 0, CP_ASYNC = 1;   // WAY; anything else loads
constexpr int LANES = ROW / 16, ROWS = TILE / ROW, AT_ONCE = THREADS / LANES;
extern __shared__ __align__(128) unsigned char arena[];

// out per CTA: cycles of all turns. Rows of a tile are SOURCE_PITCH apart in memory, and the tiles of a group side by
// side along them; in shared memory rows are PITCH apart. Bulk copies take tiles in one piece. CTAs of another pass over
// the SMs begin elsewhere.
extern "C" __global__ void __launch_bounds__(THREADS)
merged_reads(long long *out, const unsigned char *source, int sms, int members, int tiles, int turns) {
    __shared__ u64 barriers[STAGES];
    const int row = threadIdx.x / LANES, part = threadIdx.x % LANES;
    const u32 to = shared_address(arena);
    const int place = SWIZZLED ? part ^ (row % LANES) : part;
    const unsigned char *group = source + OFFSET + (u64)(blockIdx.x % sms / members) * ROWS * SOURCE_PITCH;
    int at = blockIdx.x / sms * (tiles / 2) % tiles, s = 0;
    u32 rest = 0;
    if (threadIdx.x == 0) {
        for (int k = 0; k < STAGES; ++k) barrier_init(shared_address(barriers + k), 1);
        barrier_init_fence();
    }
    __syncthreads();
    const long long start = cycles();
#pragma unroll 1
    for (int t = 0; t < turns; ++t) {
        if (WAY == BULK) {
            if (threadIdx.x == 0) {
                const u32 barrier = shared_address(barriers + s);
                if (t >= STAGES) barrier_wait(barrier, (t / STAGES - 1) & 1);
                barrier_expect(barrier, TILE);
                bulk_load(to + s * TILE, group + (u64)at * TILE, TILE, barrier);
            }
        } else if (WAY == CP_ASYNC) {
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
            __syncthreads();
#pragma unroll
            for (int r = 0; r < ROWS; r += AT_ONCE)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + (s * ROWS + row + r) * PITCH + 16 * place),
                             "l"(group + (u64)(row + r) * SOURCE_PITCH + at * ROW + 16 * part)
                             : "memory");
            asm volatile("cp.async.commit_group;" ::: "memory");
        } else {
            uint4 v[ROWS / AT_ONCE];
#pragma unroll
            for (int r = 0; r < ROWS; r += AT_ONCE)
                v[r / AT_ONCE] = __ldcg((const uint4 *)(group + (u64)(row + r) * SOURCE_PITCH + at * ROW + 16 * part));
#pragma unroll
            for (int r = 0; r < ROWS; r += AT_ONCE) {
                const uint4 w = v[r / AT_ONCE];
                rest ^= w.x ^ w.y ^ w.z ^ w.w;
            }
        }
        if (++at == tiles) at = 0;
        if (++s == STAGES) s = 0;
    }
    if (WAY == BULK && threadIdx.x == 0)
        for (int t = turns; t < turns + STAGES; ++t) barrier_wait(shared_address(barriers + t % STAGES), (t / STAGES - 1) & 1);
    if (WAY == CP_ASYNC) asm volatile("cp.async.wait_group 0;" ::: "memory");
    if (rest == 0x12345678u) out[0] = 0;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = cycles() - start;
}
