// The two products of attention as functions: wgmma of 64 rows by 64 or 128 columns, 16 deep, FP16 with FP32 sums, the
// first operand in shared memory or in registers. `wgmma.cuh` has one size a file, and these are two.
#pragma once
#define WGMMA_N 64
#include "../_harness/wgmma.cuh"

#define PRODUCT_F64(i) WGMMA_F32(i), WGMMA_F32(i + 32)
#define PRODUCT_D128 WGMMA_FIRST_TEN WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) WGMMA_TEN(4) WGMMA_TEN(5) "%60,%61,%62,%63"

__device__ __forceinline__ void product(float (&d)[32], unsigned long long a, unsigned long long b, int add) {
  wgmma(d, a, b, add);
}

__device__ __forceinline__ void product(float (&d)[32], const unsigned int (&a)[4], unsigned long long b) {
  wgmma(d, a, b, 1);
}

__device__ __forceinline__ void product(float (&d)[64], unsigned long long a, unsigned long long b, int add) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %66, 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" PRODUCT_D128 "}, %64, %65, p, 1, 1, 0, 0;\n\t}"
               : PRODUCT_F64(0)
               : "l"(a), "l"(b), "r"(add)
               : "memory");
}

__device__ __forceinline__ void product(float (&d)[64], const unsigned int (&a)[4], unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" PRODUCT_D128
               "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 0;"
               : PRODUCT_F64(0)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// A named barrier of THREADS threads that one side waits at and the other one only comes to.
template <int THREADS>
__device__ __forceinline__ void wait_turn(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(THREADS) : "memory");
}

template <int THREADS>
__device__ __forceinline__ void turn_over(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(THREADS) : "memory");
}
