"""FP32 instructions whose registers meet in one bank of the register file."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.program.sass import family
from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import Context, i32, settled, spec

SOURCES = ("operands.cu",)
NOTES = {
    "kind": "the loop of operands.cu; registers are the compiler's choice",
    "warps_per_scheduler": "warps of one scheduler; one SM",
    "cycles_per_turn": "SM cycles of one turn, of all warps of a scheduler; from the difference of two lengths",
    "sass_turn": "instructions of one turn, and those that read two registers of one bank; null without cuobjdump",
}
KINDS = ("outer4x4", "one_multiplicand", "three_registers", "fmul", "fadd", "mixed", "outer8x4")
UNROLL = 4
SHORT, LONG, REPEATS = 20, 500, 6


def specs() -> list:
    return [spec("operands.cu", "operands", KIND=kind, UNROLL=UNROLL) for kind in range(len(KINDS))]


def run(context: Context) -> Iterator[dict]:
    for kind, name in enumerate(KINDS):
        kernel = context.kernel("operands.cu", "operands", KIND=kind, UNROLL=UNROLL)
        for warps in (1, 2, 4, 8):
            cycles = [
                settled(context.stamps(kernel, 1, 128 * warps, (context.source, i32(turns), i32(REPEATS)), REPEATS))
                for turns in (SHORT, LONG)
            ]
            yield {
                "kind": name,
                "warps_per_scheduler": warps,
                "cycles_per_turn": (cycles[1]["cycles_min"] - cycles[0]["cycles_min"]) / (LONG - SHORT),
                "sass_turn": counts(kernel),
            }


def counts(kernel: CompiledKernel) -> dict[str, int] | None:
    """Instructions of the loop, and how many of them read two registers of one bank."""
    for loop in kernel.sass_loops() or ():
        if family(loop.counts, "FFMA", "FMUL", "FADD"):
            return {"instructions": sum(loop.counts.values()), "conflicts": loop.register_conflicts}
    return None
