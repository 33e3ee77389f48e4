"""Products by mma.sync of fragments that ldmatrix loads, with and without barriers, as the inner part of a GEMM."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpusim.program.sass import family, parse
from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import KIB, Context, i32, spec

SOURCES = ("fragments.cu",)
NOTES = {
    "rows": "of the tile of a warp, in mma (16 each)",
    "columns": "of it, in mma (8 each)",
    "steps": "of a turn, each 16 deep",
    "loads": "0: fragments stay in registers; 1: each step loads its own; 2: it loads those of the next one",
    "syncs": "block barriers a turn",
    "warps": "of a CTA",
    "ctas_per_sm": "1: one CTA on the whole device; more: that many on every SM",
    "cycles_per_turn": "of all CTAs of an SM: from the first that begins to the last that ends, over the turns of one; "
    "median over SMs, from the difference of two lengths",
    "sass_turn": "instructions of a turn as disassembled, each with its stall count; null without cuobjdump",
}
TILES = (
    (4, 4, 2), (4, 4, 4), (4, 8, 2), (2, 4, 2), (2, 4, 4), (2, 8, 2), (2, 2, 2), (2, 2, 8), (1, 4, 4), (1, 8, 4),
    (2, 4, 1), (4, 4, 1), (4, 8, 4),
)  # fmt: skip
"""(rows, columns, steps) of a warp."""
CTAS_WARPS = (
    (1, 1), (1, 2), (1, 4), (1, 5), (1, 8), (1, 12), (1, 16), (2, 2), (2, 4), (2, 8), (3, 4), (3, 8), (4, 4),
)  # fmt: skip
REGISTERS, OTHER_REGISTERS = 65536, 72
"""Of an SM; of a thread, besides its sums."""
SHORT, LONG = 64, 512


def cases() -> Iterator[dict[str, int]]:
    """Compile-time constants of each kernel."""
    for rows, columns, steps in TILES:
        for loads in (0, 1, 2):
            for syncs in (0, 1, 2) if loads else (0,):
                if loads < 2 or steps > 1:
                    yield {"ROWS": rows, "COLUMNS": columns, "STEPS": steps, "LOADS": loads, "SYNCS": syncs}


def specs() -> list:
    return [spec("fragments.cu", "fragments", **case) for case in cases()]


def run(context: Context) -> Iterator[dict]:
    for case in cases():
        kernel = context.kernel("fragments.cu", "fragments", **case)
        rows, columns, steps = case["ROWS"], case["COLUMNS"], case["STEPS"]
        stages = (16 * rows + 8 * columns) * (64 * steps + 16)
        for ctas, warps in CTAS_WARPS:
            if 32 * warps * ctas * (4 * rows * columns + OTHER_REGISTERS) > REGISTERS:
                continue
            grid = ctas * context.sms if ctas > 1 else 1
            shared = 228 * KIB // (ctas + 1) if ctas > 1 else stages
            yield {
                **{name.lower(): value for name, value in case.items()},
                "ctas_per_sm": ctas,
                "warps": warps,
                "cycles_per_turn": _cycles(context, kernel, grid, warps, shared),
                "sass_turn": _turn(kernel) if (ctas, warps) == CTAS_WARPS[0] else None,
            }


def _cycles(context: Context, kernel: CompiledKernel, grid: int, warps: int, shared: int) -> float:
    """Cycles of one turn of all CTAs of an SM."""
    found = []
    for turns in (SHORT, LONG):
        args = (i32(turns),)
        sm, begins, ends = context.warm(kernel, grid, 32 * warps, args, 3 * grid, shared).reshape(grid, 3).T
        found.append(float(np.median([ends[sm == one].max() - begins[sm == one].min() for one in np.unique(sm)])))
    return (found[1] - found[0]) / (LONG - SHORT)


def _turn(kernel: CompiledKernel) -> list[tuple[int | None, str]] | None:
    """The instructions of the innermost loop with products."""
    for loop in kernel.sass_loops() or ():
        if family(loop.counts, "HMMA"):
            inside = [one for one in parse(kernel.sass()) if loop.first <= one.address <= loop.last]
            return [(one.stall, one.text) for one in inside if one.opcode != "NOP"]
    return None
