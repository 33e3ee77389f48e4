"""The tile kernels' inner loop: load a vector, F dependent FFMAs per component, accumulate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from gpusim.program.sass import Loop, family
from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import KIB, Context, f32, i32, settled, spec

SOURCES = ("lds_ffma.cu",)
NOTES = {
    "fmas": "dependent FFMAs on each of a vector's 4 components (4 chains); looped by 16 beyond 16",
    "unroll": "vectors per loop turn",
    "cycles_per_vector": "SM cycles per vector iteration, all warps of the CTA together; minimum over repeats",
    "sass_per_vector": "instructions one warp executes per vector, from the SASS of the loop; null without cuobjdump",
}
FMAS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)
WARPS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 32)
UNROLLS = (1, 4)
VECTORS = 256
REPEATS = 6


def defines(warps: int, fmas: int, unroll: int) -> dict[str, int]:
    turn = unroll * warps * 32 * 16
    # At least two turns, or the loads would be the same every time and leave the loop.
    wrap = max(32 * KIB, 2 << (turn - 1).bit_length())
    return {"THREADS": 32 * warps, "FMAS": fmas, "UNROLL": unroll, "WRAP": wrap}


def variants() -> list[tuple[int, int, int]]:
    return [(warps, fmas, unroll) for unroll in UNROLLS for warps in WARPS for fmas in FMAS]


def specs() -> list:
    return [spec("lds_ffma.cu", "lds_ffma", **defines(*variant)) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    kernels = [context.kernel("lds_ffma.cu", "lds_ffma", **defines(*variant)) for variant in variants()]
    with ThreadPoolExecutor(16) as pool:
        counts = list(pool.map(counts_per_vector, kernels))
    for (warps, fmas, unroll), kernel, found in zip(variants(), kernels, counts, strict=True):
        arena = defines(warps, fmas, unroll)["WRAP"] + unroll * warps * 32 * 16
        args = (f32(0.999), f32(0.001), i32(VECTORS), i32(REPEATS))
        cycles = settled(context.stamps(kernel, 1, 32 * warps, args, REPEATS, arena))
        yield {
            "fmas": fmas,
            "unroll": unroll,
            "warps": warps,
            "cycles_per_vector": cycles["cycles_min"] / VECTORS,
            "cycles_per_vector_median": cycles["cycles_median"] / VECTORS,
            "registers": kernel.registers,
            "local_bytes": kernel.local_bytes,
            "sass_per_vector": found,
        }


def counts_per_vector(kernel: CompiledKernel) -> dict[str, float] | None:
    """Executed LDS, FFMA, FADD and other instructions per vector, inner loops multiplied out."""
    loops = kernel.sass_loops()
    if loops is None:
        return None
    fmas, unroll = int(kernel.spec.defines["FMAS"]), int(kernel.spec.defines["UNROLL"])
    # Not the repeat loop, which reads the clock, nor the stopwatch's atomics, which load 8 bytes.
    outer = next((loop for loop in loops if "LDS.128" in loop.counts and "CS2R" not in loop.counts), None)
    if outer is None:
        return None
    executed = Counter(outer.counts)
    for loop in loops:
        if _inside(loop, outer):
            executed.update({opcode: n * (fmas // 16 - 1) for opcode, n in loop.counts.items()})
    named = {name: family(executed, name) / unroll for name in ("LDS", "FFMA", "FADD")}
    named["other"] = sum(executed.values()) / unroll - sum(named.values())
    return {name.lower(): n for name, n in named.items()}


def _inside(loop: Loop, outer: Loop) -> bool:
    return loop is not outer and outer.first <= loop.first and loop.last < outer.last
