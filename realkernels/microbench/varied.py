"""Turns of code that is not all alike, by several warps of a scheduler: who waits for whom."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpusim.program.sass import parse
from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import Context, f32, i32, spec

SOURCES = ("varied.cu",)
NOTES = {
    "kind": "what a step computes: the pull between bodies, the price of an option, four polynomials, a hash of four "
    "words, a running softmax, eight weights of four bits; each reads 16 bytes of shared memory, all lanes the same",
    "steps": "in a turn of the loop",
    "barrier": "whether a turn ends with one",
    "warps_per_scheduler": "of all CTAs of an SM",
    "ctas_per_sm": "which have these warps in equal parts; all SMs are full",
    "cycles_per_turn": "of all CTAs of an SM: from the first that begins to the last that ends, over the turns; median "
    "over SMs, from the difference of two lengths",
    "sass_turn": "instructions of a turn as disassembled, each with its stall count; null without cuobjdump",
}
KINDS = ("bodies", "option", "horner", "hash", "softmax", "nibbles")
STEPS = (1, 4)
SHAPES = ((1, 1), (2, 1), (3, 1), (4, 1), (6, 1), (8, 1), (2, 2), (4, 2), (4, 4), (8, 2), (8, 8))
"""Warps of a scheduler, CTAs of an SM."""
SCHEDULERS = 4
SHORT, LONG = 100, 600


def variants() -> list[dict[str, int]]:
    return [
        {"KIND": kind, "STEPS": steps, "BARRIER": barrier}
        for kind in range(len(KINDS))
        for steps in STEPS
        for barrier in (0, 1)
    ]


def specs() -> list:
    return [spec("varied.cu", "varied", **variant) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    for variant in variants():
        kernel = context.kernel("varied.cu", "varied", **variant)
        for warps, ctas in SHAPES:
            grid, block = context.sms * ctas, 32 * SCHEDULERS * warps // ctas
            cycles = []
            for turns in (SHORT, LONG):
                args = (i32(turns), f32(0.001))
                sm, begins, ends = context.warm(kernel, grid, block, args, 3 * grid).reshape(grid, 3).T
                cycles.append(
                    float(np.median([ends[sm == one].max() - begins[sm == one].min() for one in np.unique(sm)]))
                )
            yield {
                "kind": KINDS[variant["KIND"]],
                "steps": variant["STEPS"],
                "barrier": bool(variant["BARRIER"]),
                "warps_per_scheduler": warps,
                "ctas_per_sm": ctas,
                "cycles_per_turn": (cycles[1] - cycles[0]) / (LONG - SHORT),
                "sass_turn": _turn(kernel) if (warps, ctas) == SHAPES[0] else None,
            }


def _turn(kernel: CompiledKernel) -> list[tuple[int | None, str]] | None:
    """The instructions of the loop over turns: the longest there is."""
    loops = kernel.sass_loops() or ()
    if not loops:
        return None
    loop = max(loops, key=lambda one: one.last - one.first)
    inside = [one for one in parse(kernel.sass()) if loop.first <= one.address <= loop.last]
    return [(one.stall, one.text) for one in inside if one.opcode != "NOP"]
