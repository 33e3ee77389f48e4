"""Which pipes arithmetic of halves shares with that of floats and integers; one SM."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.program.sass import family, parse
from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import Context, i32, settled, spec

SOURCES = ("halves.cu",)
NOTES = {
    "kinds": "two in turn: FMAs by one half of a register (half) or by two (packed), sums and products of two halves, "
    "FFMA, FADD, IMAD, IADD3; or polynomials with coefficients of either sort",
    "warps_per_scheduler": "warps of one scheduler; one SM",
    "cycles_per_turn": "SM cycles of one turn, of all warps of a scheduler; from the difference of two lengths",
    "sass_turn": "instructions of one turn as disassembled, without predicates; null without cuobjdump",
}
KINDS = {"half": 0, "packed": 1, "add": 2, "multiply": 3, "ffma": 4, "fadd": 5, "imad": 6, "iadd3": 7}
POLYNOMIALS = {"polynomial, half": 0, "polynomial, packed": 1}
OF_HALVES = list(KINDS)[:4]
SHORT, LONG, REPEATS = 20, 500, 6


def variants() -> Iterator[tuple[list[str], dict[str, int]]]:
    """Names, and what the source is compiled with."""
    for at, first in enumerate(OF_HALVES):
        for second in [*OF_HALVES[at:], *list(KINDS)[4:]]:
            yield [first, second], {"FIRST": KINDS[first], "SECOND": KINDS[second]}
    for name, sort in POLYNOMIALS.items():
        yield [name], {"POLYNOMIAL": sort}


def specs() -> list:
    return [spec("halves.cu", "halves", **defined) for _, defined in variants()]


def run(context: Context) -> Iterator[dict]:
    for names, defined in variants():
        kernel = context.kernel("halves.cu", "halves", **defined)
        for warps in (1, 2, 4, 8):
            cycles = [
                settled(context.stamps(kernel, 1, 128 * warps, (context.source, i32(turns), i32(REPEATS)), REPEATS))
                for turns in (SHORT, LONG)
            ]
            yield {
                "kinds": names,
                "warps_per_scheduler": warps,
                "cycles_per_turn": (cycles[1]["cycles_min"] - cycles[0]["cycles_min"]) / (LONG - SHORT),
                "sass_turn": _turn(kernel) if warps == 1 else None,
            }


def _turn(kernel: CompiledKernel) -> list[str] | None:
    """Instructions of the loop, as they are disassembled."""
    for loop in kernel.sass_loops() or ():
        if family(loop.counts, "HFMA2", "HADD2", "HMUL2"):
            inside = [one for one in parse(kernel.sass()) if loop.first <= one.address <= loop.last]
            return [one.text for one in inside if one.opcode != "NOP"]
    return None
