// wgmma.mma_async as functions: 64 rows of one warpgroup times WGMMA_N columns, WGMMA_K deep, FP32 accumulators.
//
// Operands lie in shared memory without a swizzle: core matrices of 8 rows of 16 bytes, each contiguous (128 bytes).
// WGMMA_N: 8, 16, 32, 64, 128, 192 or 256. WGMMA_TYPE: f16 unless defined (bf16, tf32,
// e4m3), of WGMMA_BITS: 16.
#pragma once

#ifndef WGMMA_TYPE
#define WGMMA_TYPE f16
#endif
#define WGMMA_TEXT_OF(x) #x
#define WGMMA_TEXT(x) WGMMA_TEXT_OF(x)

// Ten operands "%x0, …" of one asm statement, and lists of accumulators.
#define WGMMA_TEN(x) "%" #x "0,%" #x "1,%" #x "2,%" #x "3,%" #x "4,%" #x "5,%" #x "6,%" #x "7,%" #x "8,%" #x "9,"
#define WGMMA_FIRST_TEN "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,"
#define WGMMA_F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_F16(i) WGMMA_F4(i), WGMMA_F4(i + 4), WGMMA_F4(i + 8), WGMMA_F4(i + 12)
#define WGMMA_F32(i) WGMMA_F16(i), WGMMA_F16(i + 16)

#if WGMMA_N == 8
#define WGMMA_D "%0,%1,%2,%3"
#define WGMMA_OUT WGMMA_F4(0)
#define WGMMA_IN_0 "%4"
#define WGMMA_IN_1 "%5"
#define WGMMA_IN_2 "%6"
#define WGMMA_IN_3 "%7"
#define WGMMA_IN_4 "%8"
#define WGMMA_IN_5 "%9"
#elif WGMMA_N == 16
#define WGMMA_D "%0,%1,%2,%3,%4,%5,%6,%7"
#define WGMMA_OUT WGMMA_F4(0), WGMMA_F4(4)
#define WGMMA_IN_0 "%8"
#define WGMMA_IN_1 "%9"
#define WGMMA_IN_2 "%10"
#define WGMMA_IN_3 "%11"
#define WGMMA_IN_4 "%12"
#define WGMMA_IN_5 "%13"
#elif WGMMA_N == 32
#define WGMMA_D WGMMA_FIRST_TEN "%10,%11,%12,%13,%14,%15"
#define WGMMA_OUT WGMMA_F16(0)
#define WGMMA_IN_0 "%16"
#define WGMMA_IN_1 "%17"
#define WGMMA_IN_2 "%18"
#define WGMMA_IN_3 "%19"
#define WGMMA_IN_4 "%20"
#define WGMMA_IN_5 "%21"
#elif WGMMA_N == 64
#define WGMMA_D WGMMA_FIRST_TEN WGMMA_TEN(1) WGMMA_TEN(2) "%30,%31"
#define WGMMA_OUT WGMMA_F32(0)
#define WGMMA_IN_0 "%32"
#define WGMMA_IN_1 "%33"
#define WGMMA_IN_2 "%34"
#define WGMMA_IN_3 "%35"
#define WGMMA_IN_4 "%36"
#define WGMMA_IN_5 "%37"
#elif WGMMA_N == 128
#define WGMMA_D WGMMA_FIRST_TEN WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) WGMMA_TEN(4) WGMMA_TEN(5) "%60,%61,%62,%63"
#define WGMMA_OUT WGMMA_F32(0), WGMMA_F32(32)
#define WGMMA_IN_0 "%64"
#define WGMMA_IN_1 "%65"
#define WGMMA_IN_2 "%66"
#define WGMMA_IN_3 "%67"
#define WGMMA_IN_4 "%68"
#define WGMMA_IN_5 "%69"
#elif WGMMA_N == 192
#define WGMMA_D                                                                                                  \
  WGMMA_FIRST_TEN WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) WGMMA_TEN(4) WGMMA_TEN(5) WGMMA_TEN(6) WGMMA_TEN(7)     \
      WGMMA_TEN(8) "%90,%91,%92,%93,%94,%95"
#define WGMMA_OUT WGMMA_F32(0), WGMMA_F32(32), WGMMA_F32(64)
#define WGMMA_IN_0 "%96"
#define WGMMA_IN_1 "%97"
#define WGMMA_IN_2 "%98"
#define WGMMA_IN_3 "%99"
#define WGMMA_IN_4 "%100"
#define WGMMA_IN_5 "%101"
#elif WGMMA_N == 256
#define WGMMA_D                                                                                                  \
  WGMMA_FIRST_TEN WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) WGMMA_TEN(4) WGMMA_TEN(5) WGMMA_TEN(6) WGMMA_TEN(7)     \
      WGMMA_TEN(8) WGMMA_TEN(9) WGMMA_TEN(10) WGMMA_TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127"
#define WGMMA_OUT WGMMA_F32(0), WGMMA_F32(32), WGMMA_F32(64), WGMMA_F32(96)
#define WGMMA_IN_0 "%128"
#define WGMMA_IN_1 "%129"
#define WGMMA_IN_2 "%130"
#define WGMMA_IN_3 "%131"
#define WGMMA_IN_4 "%132"
#define WGMMA_IN_5 "%133"
#else
#error "WGMMA_N: 8, 16, 32, 64, 128, 192 or 256"
#endif

constexpr int WGMMA_ACCUMULATORS = WGMMA_N / 2;   // of each thread

// Of the operands below: K of one instruction is 32 bytes, and only 16-bit types may be transposed.
#ifndef WGMMA_BITS
#define WGMMA_BITS 16
#endif
#if WGMMA_BITS == 32
#define WGMMA_K 8
#define WGMMA_FLAGS_SHARED "1, 1;"
#define WGMMA_FLAGS_REGISTERS "1, 1;"
#elif WGMMA_BITS == 16
#define WGMMA_K 16
#define WGMMA_FLAGS_SHARED "1, 1, 0, 0;"
#define WGMMA_FLAGS_REGISTERS "1, 1, 0;"
#else
#define WGMMA_K 32
#define WGMMA_FLAGS_SHARED "1, 1;"
#define WGMMA_FLAGS_REGISTERS "1, 1;"
#endif
#define WGMMA_OPCODE                                                                        \
  "wgmma.mma_async.sync.aligned.m64n" WGMMA_TEXT(WGMMA_N) "k" WGMMA_TEXT(WGMMA_K) ".f32."   \
      WGMMA_TEXT(WGMMA_TYPE) "." WGMMA_TEXT(WGMMA_TYPE)

// Where a matrix lies: its address, and the bytes from one core matrix to the next along K and along its rows.
__device__ __forceinline__ unsigned long long wgmma_descriptor(unsigned int address, unsigned int along_k,
                                                               unsigned int along_rows) {
  return (unsigned long long)((address & 0x3ffff) >> 4) | (unsigned long long)(along_k >> 4) << 16 |
         (unsigned long long)(along_rows >> 4) << 32;
}

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int GROUPS>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory");
}

// d = a * b, or d += a * b where `add` is not 0; both from shared memory.
__device__ __forceinline__ void wgmma(float (&d)[WGMMA_ACCUMULATORS], unsigned long long a, unsigned long long b,
                                      int add) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " WGMMA_IN_2 ", 0;\n\t" WGMMA_OPCODE " {" WGMMA_D "}, " WGMMA_IN_0
               ", " WGMMA_IN_1 ", p, " WGMMA_FLAGS_SHARED "\n\t}"
               : WGMMA_OUT
               : "l"(a), "l"(b), "r"(add)
               : "memory");
}

// The same with `a` in registers: each thread has four.
__device__ __forceinline__ void wgmma(float (&d)[WGMMA_ACCUMULATORS], const unsigned int (&a)[4],
                                      unsigned long long b, int add) {
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " WGMMA_IN_5 ", 0;\n\t" WGMMA_OPCODE " {" WGMMA_D "}, {" WGMMA_IN_0
               ", " WGMMA_IN_1 ", " WGMMA_IN_2 ", " WGMMA_IN_3 "}, " WGMMA_IN_4 ", p, " WGMMA_FLAGS_REGISTERS "\n\t}"
               : WGMMA_OUT
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
