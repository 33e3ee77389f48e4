// CTAs that come and go, an element a thread: integer instructions in chains, loads from L2, a store.
#include "common.cuh"

// `mask` is 0, but the compiler must not know; each of LOADS loads is `apart` elements behind the one before.
extern "C" __global__ void __launch_bounds__(BLOCK)
short_ctas(const float *__restrict__ source, float *__restrict__ target, u32 mask, u32 apart) {
    const u32 i = blockIdx.x * BLOCK + threadIdx.x;
    u32 chain[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) chain[c] = i + c * mask;
#pragma unroll
    for (int k = 0; k < INTEGERS / CHAINS; ++k)
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) chain[c] = k & 1 ? (chain[c] ^ mask) + apart : (chain[c] & apart) - k;
    u32 all = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) all |= chain[c];
    const u32 first = i + (all & mask);
    float sum = 0.f;
#pragma unroll
    for (int l = 0; l < LOADS; ++l) sum += source[(first + l * apart) & (ELEMENTS - 1)];
    target[i & (ELEMENTS - 1)] = sum;
}
