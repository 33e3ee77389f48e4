"""The pipe of shared memory and L1: what accesses take of it that no lane executes, and the ends of cp.async groups."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, i32, settled, spec

SOURCES = ("masked.cu",)
NOTES = {
    "access": "ld.shared, st.shared, ld.global, cp.async: none of whose lanes takes part; copy: cp.async that is "
    "executed; commit: end of an empty group",
    "placeholders": "loads from shared memory that the assembler puts before a cp.async that follows another access, "
    "and that no lane executes; counted in the machine code",
    "beside": "loads from shared memory before each access, which are executed, 128 bytes each",
    "cycles": "SM cycles per access of one warp, with what is beside it, all warps together",
}
ACCESSES = ("none", "ld.shared", "st.shared", "ld.global", "cp.async", "copy", "commit")
PER_TURN, TURNS, REPEATS = 8, 200, 6
PLACEHOLDERS = 3


def specs() -> list:
    return [spec("masked.cu", "masked", ACCESS=access, BESIDE=beside) for access, beside in _cases()]


def _cases() -> list[tuple[int, int]]:
    return [(access, beside) for access in range(len(ACCESSES)) for beside in (0, 1, 2) if access or beside]


def run(context: Context) -> Iterator[dict]:
    for access, beside in _cases():
        kernel = context.kernel("masked.cu", "masked", ACCESS=access, BESIDE=beside)
        for warps in (1, 4, 8, 16, 32):
            args = (context.target, i32(0), i32(TURNS), i32(REPEATS))
            found = settled(context.stamps(kernel, 1, 32 * warps, args, REPEATS))
            yield {
                "access": ACCESSES[access],
                "beside": beside,
                "warps": warps,
                "placeholders": PLACEHOLDERS if beside and ACCESSES[access] in ("cp.async", "copy") else 0,
                "cycles": found["cycles_min"] / (TURNS * PER_TURN * warps),
            }
