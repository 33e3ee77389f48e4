// Turns of code as real kernels have it: runs of instructions that need not wait, between long waits for each other.
#include "common.cuh"

// KIND: see varied.py. BARRIER: whether a turn ends with one. WORDS: floats of shared memory that a step reads.
// out per CTA: its SM, and the cycles at which it begins and ends there.

struct State {
    float f[8];
    unsigned int u[4];
};

__device__ __forceinline__ void bodies(State &s, float4 o) {      // of two bodies, the pull of another
#pragma unroll
    for (int b = 0; b < 2; ++b) {
        const float dx = o.x - s.f[b], dy = o.y - s.f[b + 2], dz = o.z - 0.5f * s.f[b];
        const float r = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f)))), pull = o.w * r * r * r;
        s.f[4 + b] = fmaf(dx, pull, s.f[4 + b]);
        s.f[6 + b] = fmaf(dy, pull, fmaf(dz, pull, s.f[6 + b]));
    }
}

__device__ __forceinline__ void option(State &s, float4 o) {      // a price: logarithm, root, exponentials, division
    const float root = sqrtf(o.z), d = __fdividef(__logf(o.x * o.y) + o.w * o.z, root);
    const float k = __fdividef(1.f, fmaf(0.2316f, fabsf(d), 1.f));
    const float p = k * fmaf(k, fmaf(k, fmaf(k, fmaf(k, 1.33f, -1.82f), 1.78f), -0.356f), 0.319f);
    s.f[0] += o.x * p * __expf(-0.5f * d * d);
    s.f[1] = fmaf(s.f[1], 0.999f, d);
}

__device__ __forceinline__ void horner(State &s, float4 o) {      // four polynomials, two at a time
    const float x[4] = {o.x, o.y, o.z, o.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        float y = s.f[7];
#pragma unroll
        for (int k = 0; k < 8; ++k) y = fmaf(y, x[i], 0.1f * k);
        s.f[i] += y;
    }
}

__device__ __forceinline__ void hash(State &s, float4 o) {        // bits mixed, counted and folded
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        unsigned int x = s.u[i] ^ __float_as_uint(i & 1 ? o.x : o.y);
        x ^= x >> 16;
        x *= 0x7feb352du;
        x ^= x >> 15;
        s.u[i] += x;
    }
    s.u[0] ^= __popc(s.u[1]);
}

__device__ __forceinline__ void softmax(State &s, float4 o) {     // running maximum and sum
    const float top = fmaxf(fmaxf(o.x, o.y), fmaxf(o.z, o.w)), most = fmaxf(s.f[0], top);
    s.f[1] *= __expf(s.f[0] - most);
    s.f[0] = most;
    s.f[1] += __expf(o.x - most) + __expf(o.y - most) + __expf(o.z - most) + __expf(o.w - most);
}

__device__ __forceinline__ void nibbles(State &s, float4 o) {     // eight weights of four bits
    const unsigned int w = __float_as_uint(o.x) ^ s.u[0];
#pragma unroll
    for (int i = 0; i < 8; ++i) s.f[i & 3] = fmaf((float)(int)((w >> (4 * i)) & 15u), i & 1 ? o.y : o.z, s.f[i & 3]);
    s.u[0] = s.u[0] * 5u + 1u;
}

extern "C" __global__ void __launch_bounds__(1024, 1)
varied(long long *out, int turns, float a) {
    __shared__ float4 words[64];
    const int thread = threadIdx.x;
    if (thread < 64) words[thread] = make_float4(1.f + thread * a, 1.25f, 1.5f + a, 0.25f);
    State s;
#pragma unroll
    for (int i = 0; i < 8; ++i) s.f[i] = a * (thread + i);
#pragma unroll
    for (int i = 0; i < 4; ++i) s.u[i] = thread * 4 + i;
    __syncthreads();
    const long long start = cycles();
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int i = 0; i < STEPS; ++i) {
            const float4 o = words[(turn & 7) * 8 + (i & 7)];
            if (KIND == 0) bodies(s, o);
            else if (KIND == 1) option(s, o);
            else if (KIND == 2) horner(s, o);
            else if (KIND == 3) hash(s, o);
            else if (KIND == 4) softmax(s, o);
            else nibbles(s, o);
        }
#if BARRIER
        __syncthreads();
#endif
    }
    __syncthreads();
    if (thread == 0) {
        out[3 * blockIdx.x] = sm_id();
        out[3 * blockIdx.x + 1] = start;
        out[3 * blockIdx.x + 2] = cycles();
    }
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += s.f[i];
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += s.u[i];
    if (sum == 1234.5678f) out[0] = 1;
}
