"""Atomic updates of global memory: what an SM sends, what L2 does of them, of one value and of many, and latency."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels._harness import timing
from realkernels.microbench.bench import GIB, KIB, MIB, Context, i32, spec, u64

SOURCES = ("atomics.cu",)
NOTES = {
    "kind": "flood: all warps update as fast as they can; beside: each warp loads from DRAM and updates in turn; "
    "chain: one thread, each update waits for the one before",
    "type": "u32, f32, or v4.f32: four f32 by one instruction",
    "returns": "whether the warps wait for the old values, of four updates at a time",
    "pattern": "side_by_side: the lanes of a warp; lanes: each anywhere in the range; warps: all lanes of a warp "
    "update one value, which lies anywhere in it; sectors: lanes side by side a sector, which lies anywhere in it",
    "range": "bytes that are updated again and again; of a chain those that it goes through",
    "base": "bytes from the start of the buffer to the range",
    "sms, ctas, warps": "SMs with CTAs, CTAs in all, warps of each",
    "loads, updates": "of 16 bytes a lane, of each turn",
    "loaded_bytes_per_s": "from DRAM, by all warps together",
    "cycles": "of an SM for an instruction of a warp: turns less half of them, the slowest CTA",
    "instructions_per_us": "of all warps together, by events: turns less half of them",
    "cycles_mean": "of a chain: from one update to the next",
}
TYPES = ("u32", "f32", "v4.f32")
PATTERNS = ("side_by_side", "lanes", "warps", "sectors")
SIZES = (4, 32, 128, 512, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 4 * MIB)
BASES, TWICE = (0, 333 * MIB + 192 * KIB), (KIB, 4 * KIB, 16 * KIB)
"""Where ranges begin, and which of them begin at both places."""
BESIDE = ((4, 0), (4, 2), (4, 4))
"""Loads and updates of a turn."""
CHAINS = ((4, 4), (4 * MIB, 4 * KIB + 128), (32 * MIB, 36 * KIB + 128))
"""Ranges and strides of chains."""
FULL = 2
"""CTAs on each SM, of 16 warps, where all have some."""
ROUNDS, REPEATS = 1024, 3


def _cases() -> Iterator[tuple[str, bool, str, int, int, int, int]]:
    """Type, returns, pattern, range, base, CTAs per SM (0: one SM has one), warps of each."""
    near = 16 * MIB
    for kind in TYPES:
        yield kind, False, "side_by_side", near, 0, 0, 32
        yield kind, False, "side_by_side", near, 0, FULL, 16
    for pattern in ("side_by_side", "lanes"):
        for warps in (1, 8):
            yield "u32", False, pattern, near, 0, 0, warps
        for warps in (1, 8, 32):
            yield "u32", True, pattern, near, 0, 0, warps
        yield "u32", True, pattern, near, 0, FULL, 16
    for pattern in ("lanes", "sectors"):
        yield "u32", False, pattern, near, 0, 0, 32
        yield "u32", False, pattern, near, 0, FULL, 16
    for size in SIZES:
        for base in BASES[: 2 if size in TWICE else 1]:
            yield "u32", False, "warps", size, base, FULL, 16
    yield "u32", True, "warps", 4, 0, FULL, 16
    for size in (4, 32, 128, KIB):
        yield "f32", False, "warps", size, 0, FULL, 16
    for size in (128, KIB, 4 * KIB):
        yield "u32", False, "lanes", size, 0, FULL, 16
        yield "u32", False, "side_by_side", size, 0, FULL, 16
    yield "f32", False, "side_by_side", 128, 0, FULL, 16
    for kind, pattern in (("u32", "side_by_side"), ("v4.f32", "side_by_side"), ("u32", "lanes")):
        yield kind, False, pattern, GIB, 0, FULL, 16


def _defines(kind: str, returns: bool, pattern: str) -> dict[str, int]:
    return {"TYPE": TYPES.index(kind), "RETURNS": int(returns), "PATTERN": PATTERNS.index(pattern)}


def _beside(loads: int, updates: int) -> dict[str, int]:
    return {"TYPE": TYPES.index("v4.f32"), "RETURNS": 0, "LOADS": loads, "UPDATES": updates}


def specs() -> list:
    kinds = dict.fromkeys(case[:3] for case in _cases())
    return [spec("atomics.cu", "atomics", **_defines(*kind)) for kind in kinds] + [
        spec("atomics.cu", "atomics_chain"),
        *(spec("atomics.cu", "atomics_beside", **_beside(*counts)) for counts in BESIDE),
    ]


def run(context: Context) -> Iterator[dict]:
    for kind, returns, pattern, size, base, ctas_per_sm, warps in _cases():
        kernel = context.kernel("atomics.cu", "atomics", **_defines(kind, returns, pattern))
        sms = context.sms if ctas_per_sm else 1
        ctas, cold = sms * max(ctas_per_sm, 1), size == GIB
        turns = 32 if size <= 128 else 128 if size <= 16 * KIB else 512
        few, many = (_times(context, kernel, ctas, warps, size, base, n, cold) for n in (turns // 2, turns))
        more = turns - turns // 2
        yield {
            "kind": "flood", "type": kind, "returns": returns, "pattern": pattern, "range": size, "base": base,
            "sms": sms, "ctas": ctas, "warps": warps,
            "cycles": (many[0] - few[0]) / (more * warps * max(ctas_per_sm, 1)),
            "instructions_per_us": ctas * warps * more / (many[1] - few[1]) * 1e-6,
        }  # fmt: skip
    for loads, updates in BESIDE:
        kernel = context.kernel("atomics.cu", "atomics_beside", **_beside(loads, updates))
        ctas, turns = FULL * context.sms, 64
        few, many = (_beside_s(context, kernel, ctas, n) for n in (turns // 2, turns))
        instructions_per_us = ctas * 16 * (turns - turns // 2) / (many - few) * 1e-6
        yield {
            "kind": "beside", "type": "v4.f32", "returns": False, "pattern": "side_by_side", "range": 16 * MIB,
            "sms": context.sms, "ctas": ctas, "warps": 16, "loads": loads, "updates": updates,
            "loaded_bytes_per_s": loads * 512 * instructions_per_us * 1e6,
            "instructions_per_us": updates * instructions_per_us,
        }  # fmt: skip
    chain = context.kernel("atomics.cu", "atomics_chain")
    for size, stride in CHAINS:
        out = context.warm(chain, 1, 1, (context.target, u64(size), u64(stride), i32(ROUNDS)), 1)
        yield {"kind": "chain", "type": "u32", "returns": True, "range": size, "cycles_mean": float(out[0]) / ROUNDS}


def _beside_s(context: Context, kernel, ctas: int, turns: int) -> float:
    """Median seconds of a launch, L2 emptied before each."""
    import cupy

    args = (context.source, context.target, u64(16 * MIB), i32(turns), cupy.zeros(1, dtype=cupy.uint32))
    return timing.time_launch(lambda: kernel.launch(ctas, 512, args), REPEATS, 1, context.flush).median_s


def _times(
    context: Context, kernel, ctas: int, warps: int, size: int, base: int, turns: int, cold: bool
) -> tuple[float, float]:
    """Median cycles of the slowest CTA, and median seconds of a launch; ``cold``: L2 emptied before each."""
    import cupy

    out, sink = cupy.zeros(ctas, dtype=cupy.int64), cupy.zeros(1, dtype=cupy.uint32)
    args = (out, context.target[base // 4 :], u64(size), i32(turns), sink)
    cycles = []

    def launch() -> None:
        kernel.launch(ctas, 32 * warps, args)

    flush = context.flush if cold else None
    times = timing.time_launch(launch, REPEATS, 1, flush)
    for _ in range(REPEATS):
        launch()
        cycles.append(float(out.get().max()))
    return float(np.median(cycles)), times.median_s
