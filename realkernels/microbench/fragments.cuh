// Fragments of an mma.sync of FP16: 16 ROWS x 8 COLUMNS sums of a warp, STEPS times 16 deep a turn. Two stages lie side by
// side in rows of PITCH bytes, so that the eight rows of a matrix are in different banks.
#pragma once
#include "common.cuh"

constexpr u32 DEPTH = 32 * STEPS, PITCH = 2 * DEPTH + 16, BYTES = (16 * ROWS + 8 * COLUMNS) * PITCH;

struct Fragments {
    u32 a[ROWS][4], b[COLUMNS / 2][4];
};

__device__ __forceinline__ void load_matrices(u32 (&r)[4], u32 at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}

// Those of step `k` of a stage in the tiles at `arena`.
__device__ __forceinline__ void fetch(Fragments &of, u32 arena, u32 stage, int k) {
    const u32 lane = threadIdx.x % 32;
    const u32 a = arena + lane % 16 * PITCH + lane / 16 * 16 + stage + 32 * k;
    const u32 b = arena + (16 * ROWS + lane % 8 + lane / 16 * 8) * PITCH + lane / 8 % 2 * 16 + stage + 32 * k;
#pragma unroll
    for (int i = 0; i < ROWS; ++i) load_matrices(of.a[i], a + 16 * i * PITCH);
#pragma unroll
    for (int j = 0; j < COLUMNS / 2; ++j) load_matrices(of.b[j], b + 16 * j * PITCH);
}

__device__ __forceinline__ void multiply(float (&sum)[ROWS][COLUMNS][4], const Fragments &of) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            const u32 *a = of.a[i], *b = &of.b[j / 2][j % 2 * 2];
            float *c = sum[i][j];
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                         "{%0, %1, %2, %3};"
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        }
}

__device__ __forceinline__ float total(const float (&sum)[ROWS][COLUMNS][4]) {
    float all = 0.f;
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j)
            for (int e = 0; e < 4; ++e) all += sum[i][j][e];
    return all;
}
