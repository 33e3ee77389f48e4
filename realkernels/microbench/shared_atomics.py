"""Atomics on shared memory: what they take of its path, lanes and warps that want the same words, and loads beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from realkernels.microbench.bench import KIB, Context, i32, settled, spec, u32

SOURCES = ("shared_atomics.cu",)
NOTES = {
    "kind": "rate (cycles per warp instruction of one SM), or chain (cycles of one that needs what the one before got)",
    "op": "inc (adds 1), add (a register), max, returns (adds, old value needed), cas, float and add64 (loops)",
    "pattern": "own: each lane a word of its own; alike N: N lanes of a warp want the same word; banks N: N lanes want "
    "different words of a bank; any N: each lane one of N words by chance",
    "apart": "each warp has words of its own",
    "loads": "conflict-free loads of 4 bytes beside each",
    "most": "lanes of a warp that want the same word, where those are most: mean of the instructions",
    "banked": "different words of a bank, where those are most",
    "turns": "words of a bank, counted as often as lanes want them, where those are most",
    "cycles": "per warp instruction (for loops: per update of a warp)",
}
OPS = {"inc": 1, "add": 2, "max": 3, "returns": 4, "cas": 5, "float": 6, "add64": 7}
LOOPS = ("float", "add64")
WIDTH = {"add64": 8}
BATCH, THREADS, ROOM = 8, 1024, 32 * KIB
TURNS, REPEATS = 32, 5
ONE = 0x3F800000
"""As bits, 1.0: a sum that does not change would hide that others have changed it."""
WARPS = (1, 2, 4, 8, 16, 32)
DEGREES = (2, 4, 8, 16, 32)
BINS = (16, 32, 64, 256, 1024, 4096)
LOADS = (1, 4)
LANES = np.arange(32)


def patterns(op: str) -> Iterator[tuple[str, bool, np.ndarray]]:
    """(name, each warp apart, offset in bytes of each update and thread: [BATCH, THREADS])."""
    width = WIDTH.get(op, 4)
    warps = np.arange(THREADS // 32)[:, None] * 32
    for apart in (False, True):
        shift = warps * apart
        yield "own", apart, _all(width * (shift + LANES))
        for degree in DEGREES:
            yield f"alike {degree}", apart, _all(width * (shift + LANES // degree))
    for degree in DEGREES:
        in_turn = LANES % (32 // degree) + 32 * (LANES // (32 // degree))
        yield f"banks {degree}", False, _all(width * (in_turn + 0 * warps))
    for bins in BINS:
        if bins * width <= ROOM:
            yield f"any {bins}", False, width * np.random.default_rng(bins).integers(bins, size=(BATCH, THREADS))


def _all(offsets: np.ndarray) -> np.ndarray:
    return np.tile(np.broadcast_to(offsets, (THREADS // 32, 32)).reshape(-1), (BATCH, 1))


def specs() -> list:
    rates = [spec("shared_atomics.cu", "updates", OP=number) for number in OPS.values()]
    beside = [spec("shared_atomics.cu", "updates", OP=OPS[op], LOADS=loads) for op in ("inc", "add") for loads in LOADS]
    return rates + beside + [spec("shared_atomics.cu", "chain", OP=OPS[op]) for op in ("returns", "cas")]


def run(context: Context) -> Iterator[dict]:
    for op in OPS:
        for pattern, apart, offsets in patterns(op):
            for warps in WARPS:
                yield from _rate(context, op, pattern, apart, offsets, warps, 0)
    for op in ("inc", "add"):
        for loads in LOADS:
            for pattern, apart, offsets in patterns(op):
                if pattern in ("own", "alike 8", "any 256") and not apart:
                    for warps in (4, 32):
                        yield from _rate(context, op, pattern, apart, offsets, warps, loads)
    for op in ("returns", "cas"):
        for pattern, apart, offsets in patterns(op):
            if not apart and not pattern.startswith("any"):
                kernel = context.kernel("shared_atomics.cu", "chain", OP=OPS[op])
                args = (_device(offsets[0]), u32(0), i32(TURNS), i32(REPEATS))
                stamps = context.stamps(kernel, 1, 32, args, REPEATS, ROOM)
                cycles = settled(stamps)["cycles_min"] / (TURNS * BATCH)
                yield {"kind": "chain", "op": op, "pattern": pattern, "cycles": round(cycles, 2)}


def _rate(
    context: Context, op: str, pattern: str, apart: bool, offsets: np.ndarray, warps: int, loads: int
) -> Iterator[dict]:
    defines = {"OP": OPS[op], **({"LOADS": loads} if loads else {})}
    kernel = context.kernel("shared_atomics.cu", "updates", **defines)
    args = (_device(offsets), u32(ONE), i32(TURNS), i32(REPEATS))
    stamps = context.stamps(kernel, 1, 32 * warps, args, REPEATS, 48 * KIB)
    cycles = settled(stamps)["cycles_min"] / (TURNS * BATCH * warps)
    row = {"kind": "rate", "op": op, "pattern": pattern, "apart": apart, "warps": warps, "loads": loads}
    yield row | conflicts(offsets[:, : 32 * warps] // WIDTH.get(op, 4)) | {"cycles": round(cycles, 3)}


def conflicts(words: np.ndarray) -> dict[str, float]:
    """Of words [updates, threads]: what the lanes of a warp have in common, a mean."""
    found = []
    for warp in words.reshape(-1, 32):
        values, times = np.unique(warp, return_counts=True)
        banks = np.bincount(values % 32)
        found.append((times.max(), banks.max(), np.bincount(values % 32, weights=times).max()))
    most, banked, turns = np.mean(found, axis=0)
    return {"most": round(float(most), 3), "banked": round(float(banked), 3), "turns": round(float(turns), 3)}


def _device(offsets: np.ndarray) -> Any:
    import cupy

    return cupy.asarray(np.ascontiguousarray(offsets), dtype=cupy.int32)
