"""Whether operands that meet in one bank of the register file hold up a pipe of half rate; one SM."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpusim.program.sass import family, parse
from realkernels._harness.compile import CompiledKernel, KernelSpec
from realkernels.microbench.bench import Context, i32, settled, spec

SOURCES = ("fetches.cu",)
NOTES = {
    "kind": "LOP3 of three registers, half of which meet in a bank, or funnel shifts of two (SHF), which do not",
    "apart": "registers from one operand to the next",
    "warps_per_scheduler": "warps of one scheduler; one SM",
    "cycles_per_turn": "SM cycles of one turn, of all warps of a scheduler",
    "sass_turn": "instructions of one turn as disassembled; null without cuobjdump, and with more than one warp",
}
KINDS = {"LOP3": 0, "SHF": 1}
APART = (5, 6)
TURNS, REPEATS = 200, 6


def specs() -> list:
    return [_spec(kind, apart) for kind in KINDS for apart in APART]


def run(context: Context) -> Iterator[dict]:
    for kind in KINDS:
        for apart in APART:
            kernel = context.kernel("fetches.cu", "fetches", **_spec(kind, apart).defines)
            for warps in (1, 2, 4, 8):
                args = (context.source, i32(TURNS), np.uint32(7))
                runs = [context.stamps(kernel, 1, 128 * warps, args, 4 * warps).mean() / TURNS for _ in range(REPEATS)]
                yield {
                    "kind": kind,
                    "apart": apart,
                    "warps_per_scheduler": warps,
                    "cycles_per_turn": settled(np.array(runs))["cycles_min"],
                    "sass_turn": _turn(kernel, kind) if warps == 1 else None,
                }


def _spec(kind: str, apart: int) -> KernelSpec:
    return spec("fetches.cu", "fetches", SHIFT=KINDS[kind], APART=apart)


def _turn(kernel: CompiledKernel, kind: str) -> list[str] | None:
    """Instructions of the loop, as they are disassembled."""
    for loop in kernel.sass_loops() or ():
        if family(loop.counts, kind):
            inside = [one for one in parse(kernel.sass()) if loop.first <= one.address <= loop.last]
            return [one.text for one in inside if one.opcode != "NOP"]
    return None
