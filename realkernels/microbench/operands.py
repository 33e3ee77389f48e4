"""Instructions whose registers meet in one bank of the register file."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.program.sass import family, parse
from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import Context, i32, settled, spec

SOURCES = ("operands.cu",)
NOTES = {
    "kind": "the loop of operands.cu; registers are the compiler's choice",
    "seed": "which registers the random kinds pick",
    "warps_per_scheduler": "warps of one scheduler; one SM",
    "cycles_per_turn": "SM cycles of one turn, of all warps of a scheduler; from the difference of two lengths",
    "sass_turn": "instructions of one turn as disassembled, without predicates; null without cuobjdump",
}
KINDS = {
    "outer4x4": 0, "one_multiplicand": 1, "three_registers": 2, "fmul": 3, "fadd": 4, "mixed": 5, "outer8x4": 6,
    "outer8x8": 7, "random_ffma": 8, "random_mixed": 9, "random_integer": 10,
}  # fmt: skip
SEEDS = 8
UNROLL = 4
SHORT, LONG, REPEATS = 20, 500, 6


def cases() -> list[tuple[str, int]]:
    return [(name, seed) for name in KINDS for seed in range(SEEDS if name.startswith("random") else 1)]


def specs() -> list:
    return [spec("operands.cu", "operands", KIND=KINDS[name], UNROLL=UNROLL, SEED=seed) for name, seed in cases()]


def run(context: Context) -> Iterator[dict]:
    for name, seed in cases():
        kernel = context.kernel("operands.cu", "operands", KIND=KINDS[name], UNROLL=UNROLL, SEED=seed)
        for warps in (1, 2, 4):
            cycles = [
                settled(context.stamps(kernel, 1, 128 * warps, (context.source, i32(turns), i32(REPEATS)), REPEATS))
                for turns in (SHORT, LONG)
            ]
            yield {
                "kind": name,
                "seed": seed,
                "warps_per_scheduler": warps,
                "cycles_per_turn": (cycles[1]["cycles_min"] - cycles[0]["cycles_min"]) / (LONG - SHORT),
                "sass_turn": turn(kernel) if warps == 1 else None,
            }


def turn(kernel: CompiledKernel) -> list[str] | None:
    """Instructions of the loop, as they are disassembled."""
    for loop in kernel.sass_loops() or ():
        if family(loop.counts, "FFMA", "FMUL", "FADD"):
            inside = [i for i in parse(kernel.sass()) if loop.first <= i.address <= loop.last]
            return [i.text for i in inside if i.opcode != "NOP"]
    return None
