"""Loads from shared memory ahead of their use: what stands between them hides their latency."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.program.sass import count, dispatch_stalls, family, loads_ahead, parse, parts
from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import Context, f32, i32, settled, spec, u32

SOURCES = ("ahead.cu",)
NOTES = {
    "fmas": "independent FFMAs of a warp's turn, which use what the turn before has loaded",
    "ahead": "part of them behind the loads for the next turn, as the source has it; the compiler moves both",
    "loads": "vectors of 16 bytes per lane and turn",
    "warps": "of one CTA on one SM, nothing else is there; no barrier",
    "cycles_per_turn": "SM cycles, all warps together; from the difference of two lengths",
    "sass": "of a turn as disassembled: instructions, loads for each wait, slots from load to use, cycles in which "
    "operands meet in a bank; with one warp, which has the same code as more; null without cuobjdump",
}
FMAS, LOADS, AHEADS = (16, 32, 64), (1, 2, 4), (0.0, 0.25, 0.75)
WARPS = (1, 4, 8, 16)
SHORT, LONG, REPEATS = 64, 1064, 6


def variants() -> list[dict[str, int]]:
    return [
        {"FMAS": fmas, "LOADS": loads, "AHEAD": int(ahead * fmas), "THREADS": 32 * warps}
        for fmas in FMAS
        for loads in LOADS
        for ahead in AHEADS
        for warps in WARPS
    ]


def specs() -> list:
    return [spec("ahead.cu", "ahead", **variant) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    for variant in variants():
        kernel = context.kernel("ahead.cu", "ahead", **variant)
        shared = 2 * variant["LOADS"] * variant["THREADS"] * 16
        cycles = []
        for turns in (SHORT, LONG):
            args = (f32(0.5), u32(0), i32(turns), i32(REPEATS))
            cycles.append(settled(context.stamps(kernel, 1, variant["THREADS"], args, REPEATS, shared)))
        yield {
            "fmas": variant["FMAS"],
            "ahead": variant["AHEAD"] / variant["FMAS"],
            "loads": variant["LOADS"],
            "warps": variant["THREADS"] // 32,
            "cycles_per_turn": (cycles[1]["cycles_min"] - cycles[0]["cycles_min"]) / (LONG - SHORT),
            "sass": _turn(kernel) if variant["THREADS"] == 32 * WARPS[0] else None,
        }


def _turn(kernel: CompiledKernel) -> dict[str, float] | None:
    text = kernel.sass()
    if text is None:
        return None
    for part in parts(parse(text)):
        counts = count(part.body)
        if family(counts, "FFMA") >= 2 * FMAS[0] and (loads := loads_ahead(part.body, loop=True)):
            return {
                "instructions": sum(counts.values()) / 2,
                "in_flight": loads.in_flight,
                "to_use": loads.to_use,
                "register_conflicts": dispatch_stalls(part.body).register_conflicts / 2,
            }
    return None
