"""SM clock while tensor cores work: from which load on power or current limits it, how far and how soon."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import GIB, KIB, MIB, Context, f32, i32, spec, u32

SOURCES = ("power.cu",)
NOTES = {
    "kind": "clock: of SMs that work; latency: of a chain of loads on one SM, the others working or not",
    "data": "of the operands: zeros, FP16 of either sign, or TF32 from 0 to 1",
    "n": "columns of one wgmma; two warpgroups on each SM, groups of four and no more under way; 0: eight warps with "
    "mma.sync",
    "sms": "that work; the others are idle",
    "pause": "cycles for which both warpgroups wait between two groups",
    "seconds": "from first to last stamp of the median CTA",
    "clock_hz": "in each of 32 parts of that, median over CTAs: cycles over the global timer",
    "groups_per_cycle": "groups of an SM, or 64 mma.sync of each warp, in a cycle of its clock",
}
DATA = ("zeros", "f16", "tf32")
SLICES = 32


def _built(data: int, n: int) -> dict[str, object]:
    kind = ("tf32", 32) if DATA[data] == "tf32" else ("f16", 16)
    return {"DATA": data, "SYNC": int(not n), "WGMMA_N": n or 128, "WGMMA_TYPE": kind[0], "WGMMA_BITS": kind[1]}


def _variants() -> list[tuple[int, int]]:
    return [(data, n) for data in range(len(DATA)) for n in (128, 256)] + [(0, 0), (1, 0)]


def specs() -> list:
    return [spec("power.cu", "power", **_built(*variant)) for variant in _variants()]


def run(context: Context) -> Iterator[dict]:
    for variant in _variants():
        for turns in (1, 4, 32, 400):
            yield _measured(context, variant, context.sms, turns, 0)
        for pause in (250, 500, 1000, 2000, 4000):
            yield _measured(context, variant, context.sms, 32, pause)
        for sms in (33, 66, 99):
            yield _measured(context, variant, sms, 32, 0)
    for place, span in (("l2", 4 * MIB), ("dram", GIB)):
        for turns in (0, 400):
            yield _latency(context, place, span, turns)


def _measured(context: Context, variant: tuple[int, int], sms: int, turns: int, pause: int) -> dict:
    kernel = context.kernel("power.cu", "power", **_built(*variant))
    args = (context.source, u32(0), i32(turns), i32(pause), f32(0.0))
    points = SLICES + 1
    context.stamps(kernel, sms, 256, args, 2 * points * sms, 64 * KIB)
    time.sleep(0.05)  # as after other work: cool and at the full clock
    found = context.stamps(kernel, sms, 256, args, 2 * points * sms, 64 * KIB).reshape(sms, points, 2)
    cycles, ns = np.diff(found[:, :, 0], axis=1), np.diff(found[:, :, 1], axis=1)
    rates = np.median(cycles / np.maximum(ns, 1), axis=0) * 1e9
    whole = np.median(found[:, -1] - found[:, 0], axis=0)
    return {
        "kind": "clock",
        "data": DATA[variant[0]],
        "n": variant[1],
        "sms": sms,
        "pause": pause,
        "turns": turns * SLICES,
        "seconds": float(whole[1]) * 1e-9,
        "mean_clock_hz": float(whole[0] / whole[1]) * 1e9,
        "clock_hz": [round(float(rate) / 1e6) * 1e6 for rate in rates],
        "groups_per_cycle": 2 * turns * SLICES / float(whole[0]),
    }


def _latency(context: Context, place: str, span: int, turns: int) -> dict:
    """A chain of loads on one SM while the others multiply, or do nothing at all."""
    import cupy

    words, steps = span // 4, 2000
    # A step of an odd number of lines goes through all of them; each address is the last one plus that.
    stride = (33 * 128 + (1 << 20) * (span > 16 * MIB)) // 4
    chain = ((cupy.arange(words, dtype=cupy.int64) + stride) % words).astype(cupy.uint32)
    kernel = context.kernel("power.cu", "power", **_built(2, 256))
    grid = context.sms if turns else 1
    args = (chain, u32(steps), i32(turns), i32(0), f32(0.0))
    found = []
    for _ in range(5):
        if place == "dram":
            context.flush()
        found.append(context.stamps(kernel, grid, 256, args, 2 * (SLICES + 1) * grid, 64 * KIB)[:4])
    stamps = np.array(found[1:], dtype=float)
    cycles, ns = np.median(stamps[:, 2] - stamps[:, 0]), np.median(stamps[:, 3] - stamps[:, 1])
    return {
        "kind": "latency",
        "place": place,
        "working": bool(turns),
        "cycles": float(cycles / steps),
        "ns": float(ns / steps),
        "mean_clock_hz": float(cycles / ns) * 1e9,
    }
