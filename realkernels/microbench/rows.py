"""What cp.async brings of tiles in rows, whose rows are longer in shared memory than what they hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, MIB, Context, i32, spec, u64

SOURCES = ("rows.cu",)
NOTES = {
    "row": "bytes that lie side by side, in both",
    "pitch, source_pitch": "from one row to the next in shared and in global memory",
    "swizzled": "16 bytes of a row lie in shared memory where an exclusive or with the row's number puts them",
    "ctas": "each copies rounds of 16 KiB, four in flight, from L2",
    "bytes_per_cycle": "of one SM",
}
ROUND, TURNS, RANGE = 16 * KIB, 1024, 8 * MIB
PITCHES = {32: (32, 48, 64, 96), 64: (64, 80, 96, 128), 128: (128, 144, 160, 192), 256: (256, 272, 288, 320)}
SWIZZLED = (64, 128)
WARPS = (4, 8)
FAR = 4096
ALL_SMS = ((64, 64), (64, 80), (128, 128), (128, 144))


def _variants() -> Iterator[tuple[dict, tuple[int, ...]]]:
    """What to compile, and CTAs per SM; 0: one CTA on one SM."""
    for row, pitches in PITCHES.items():
        for pitch in pitches:
            for warps in WARPS:
                yield _defines(row, pitch, warps), (0,)
    for row in SWIZZLED:
        yield _defines(row, row, 8, swizzled=1), (0,)
    for row, pitch in ALL_SMS:
        for source in (FAR, FAR + 128, row):
            yield _defines(row, pitch, 8, source=source), (1, 2)


def _defines(row: int, pitch: int, warps: int, *, source: int = FAR, swizzled: int = 0) -> dict:
    return {"ROW": row, "PITCH": pitch, "SOURCE_PITCH": source, "THREADS": 32 * warps, "SWIZZLED": swizzled}


def specs() -> list:
    return [spec("rows.cu", "rows", **defines) for defines, _ in _variants()]


def run(context: Context) -> Iterator[dict]:
    for defines, per_sm in _variants():
        kernel = context.kernel("rows.cu", "rows", **defines)
        room = 4 * ROUND // defines["ROW"] * defines["PITCH"]
        for each in per_sm:
            ctas = max(each * context.sms, 1)
            args = (context.source, i32(TURNS), u64(RANGE))
            stamps = context.warm(kernel, ctas, defines["THREADS"], args, ctas, room)
            yield {
                "row": defines["ROW"], "pitch": defines["PITCH"], "source_pitch": defines["SOURCE_PITCH"],
                "warps": defines["THREADS"] // 32, "swizzled": bool(defines["SWIZZLED"]), "ctas": ctas,
                "bytes_per_cycle": TURNS * ROUND * max(each, 1) / float(np.median(stamps)),
            }  # fmt: skip
