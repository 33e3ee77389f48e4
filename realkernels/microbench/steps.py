"""Short steps of a CTA between barriers, of integer or floating-point code, and the same without barriers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpusim.program.sass import family, parse
from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import Context, f32, i32, spec

SOURCES = ("steps.cu",)
NOTES = {
    "kind": "what a step consists of: maxima, logic and additions of integers; FFMA; logic and additions",
    "length": "how many of them, in the source",
    "chains": "independent ones of a warp",
    "barrier": "whether a step ends with a word for the neighbour through shared memory, and a barrier",
    "warps": "of a CTA",
    "ctas_per_sm": "all SMs are full",
    "cycles_per_step": "of all CTAs of an SM: from the first that begins to the last that ends, over the steps of "
    "one; median over SMs, from the difference of two lengths",
    "sass_step": "instructions of a step as disassembled, each with its stall count; null without cuobjdump",
}
KINDS = ("integer", "ffma", "logic")
LENGTHS, CHAINS = (8, 24, 64), (1, 4)
WARPS, CTAS = (4, 8), (1, 2, 4, 8)
SHORT, LONG = 200, 1200


def variants() -> list[dict[str, int]]:
    return [
        {"KIND": KINDS.index(kind), "LENGTH": length, "CHAINS": chains, "BARRIER": barrier}
        for barrier, kinds in ((1, KINDS[:2]), (0, KINDS))
        for kind in kinds
        for length in LENGTHS
        for chains in CHAINS
    ]


def specs() -> list:
    return [spec("steps.cu", "steps", **variant) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    for variant in variants():
        kernel = context.kernel("steps.cu", "steps", **variant)
        for warps in WARPS:
            for ctas in CTAS:
                grid = context.sms * ctas
                cycles = []
                for turns in (SHORT, LONG):
                    args = (i32(turns), i32(3), f32(0.5))
                    sm, begins, ends = context.warm(kernel, grid, 32 * warps, args, 3 * grid).reshape(grid, 3).T
                    cycles.append(
                        float(np.median([ends[sm == one].max() - begins[sm == one].min() for one in np.unique(sm)]))
                    )
                yield {
                    "kind": KINDS[variant["KIND"]],
                    "length": variant["LENGTH"],
                    "chains": variant["CHAINS"],
                    "barrier": bool(variant["BARRIER"]),
                    "warps": warps,
                    "ctas_per_sm": ctas,
                    "cycles_per_step": (cycles[1] - cycles[0]) / (LONG - SHORT),
                    "sass_step": _step(kernel) if (warps, ctas) == (WARPS[0], CTAS[0]) else None,
                }


def _step(kernel: CompiledKernel) -> list[tuple[int | None, str]] | None:
    """The instructions of the inner loop."""
    for loop in kernel.sass_loops() or ():
        if family(loop.counts, "FFMA", "LOP3"):
            inside = [one for one in parse(kernel.sass()) if loop.first <= one.address <= loop.last]
            return [(one.stall, one.text) for one in inside if one.opcode != "NOP"]
    return None
