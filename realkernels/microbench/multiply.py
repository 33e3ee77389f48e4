"""Products of 32-bit integers, of which the lower half, the upper half or all 64 bits are wanted; one SM."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.program.sass import family, parse
from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import Context, i32, settled, spec

SOURCES = ("multiply.cu",)
NOTES = {
    "op": "low: mad.lo; high: mul.hi; wide: mul.wide, and a LOP3 of both halves",
    "beside": "FFMAs behind each product",
    "warps_per_scheduler": "warps of one scheduler; one SM",
    "cycles": "SM cycles for each product, of all warps of a scheduler; from the difference of two lengths",
    "sass_turn": "instructions of one turn (64 products) as disassembled, without predicates; null without cuobjdump",
}
OPS = {"low": 0, "high": 1, "wide": 2}
BESIDE = (0, 1, 2, 4)
PRODUCTS = 64
"""In a turn."""
SHORT, LONG, REPEATS = 20, 500, 6


def specs() -> list:
    return [spec("multiply.cu", "multiply", OP=op, BESIDE=beside) for op in OPS.values() for beside in BESIDE]


def run(context: Context) -> Iterator[dict]:
    for name, op in OPS.items():
        for beside in BESIDE:
            kernel = context.kernel("multiply.cu", "multiply", OP=op, BESIDE=beside)
            for warps in (1, 2, 4, 8):
                cycles = [
                    settled(context.stamps(kernel, 1, 128 * warps, (context.source, i32(turns), i32(REPEATS)), REPEATS))
                    for turns in (SHORT, LONG)
                ]
                each = (cycles[1]["cycles_min"] - cycles[0]["cycles_min"]) / (LONG - SHORT) / PRODUCTS / warps
                yield {
                    "op": name,
                    "beside": beside,
                    "warps_per_scheduler": warps,
                    "cycles": each,
                    "sass_turn": _turn(kernel) if warps == 1 else None,
                }


def _turn(kernel: CompiledKernel) -> list[str] | None:
    """Instructions of the loop, as they are disassembled."""
    for loop in kernel.sass_loops() or ():
        if family(loop.counts, "IMAD") >= PRODUCTS:
            return [one.text for one in parse(kernel.sass()) if loop.first <= one.address <= loop.last]
    return None
