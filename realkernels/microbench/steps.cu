// Short steps of a CTA: code of fixed latency that ends in a word for the neighbour, with BARRIER through shared memory.
#include "common.cuh"

// KIND 0: maxima and additions of integers; 1: FFMA; 2: logic and additions of integers. CHAINS: independent ones.
// out per CTA: its SM, and the cycles at which it begins and ends there.
extern "C" __global__ void __launch_bounds__(256)
steps(long long *out, int turns, int m, float a) {
    __shared__ int edge[2][256];
    const int thread = threadIdx.x;
    int in = thread, x[CHAINS];
    float f[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) x[c] = thread * m + c, f[c] = (float)(thread + c);
    edge[0][thread] = edge[1][thread] = thread;
    __syncthreads();
    const long long start = cycles();
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < LENGTH; ++i) {
            if (KIND == 1) f[i % CHAINS] = fmaf(f[i % CHAINS], a, 1.5f);
            else if (KIND == 2) x[i % CHAINS] = (x[i % CHAINS] ^ in) + m;
            else if (i & 1) x[i % CHAINS] = (x[i % CHAINS] ^ in) + m;
            else x[i % CHAINS] = max(x[i % CHAINS] - m, in);
        }
#if BARRIER
        int word = 0;
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) word += KIND == 1 ? __float_as_int(f[c]) : x[c];
        edge[turn & 1][thread] = word;
        __syncthreads();
        in = edge[turn & 1][thread ^ 32];
        if (KIND == 1) f[0] += in;
#endif
    }
    __syncthreads();
    if (thread == 0) {
        out[3 * blockIdx.x] = sm_id();
        out[3 * blockIdx.x + 1] = start;
        out[3 * blockIdx.x + 2] = cycles();
    }
    int sum = in;
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) sum += x[c] + __float_as_int(f[c]);
    if (sum == 123456789) out[0] = sum;
}
