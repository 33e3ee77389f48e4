"""Tensor cores by wgmma: how long one takes, how warpgroups share them, and what goes on beside them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels.microbench.bench import KIB, Context, f32, i32, spec

SOURCES = ("wgmma.cu",)
NOTES = {
    "kind": "rate: warpgroups of one SM; issue: the same with stamps; beside: with others that load from shared memory "
    "(16 bytes), compute or copy; power: all SMs for some milliseconds",
    "n": "columns of one wgmma, m64nNk16 of f16 (k8 of tf32, k32 of e4m3) into FP32",
    "a": "where the first operand is; the second one is in shared memory",
    "per_group": "wgmma of one commit",
    "pending": "groups under way behind the wait of each",
    "cycles_per_wgmma": "first start to last end of a warpgroup over the wgmma of one, median of repeats",
    "apart": "first to last of the warpgroups' ends, over that time",
    "issued_cycles": "until a warp has issued the wgmma of a group and ended it",
    "others": "warpgroups beside",
    "beside_per_cycle": "what all warps of these execute: loads, fused multiply-adds, an IMAD and a LOP3, ex2; "
    "or lines of 128 bytes that bulk copies bring from L2, of 64 KiB or (issue) of 4 KiB each",
    "clock_hz": "cycles over the global timer, median of the warps; of all SMs",
}
TYPES = {"f16": 16, "tf32": 32, "e4m3": 8}
COLUMNS = (8, 16, 32, 64, 128, 192, 256)
WARPGROUPS = (1, 2, 3)
BESIDE = ("nothing", "ld.shared", "ffma", "integer", "ex2", "bulk", "issue")
SHARED = 192 * KIB
TURNS, REPEATS = 64, 5
_NAMES = "n", "a", "per_group", "pending", "type", "beside"
POWER_TURNS = 20_000
"""Of 16 wgmma: some 80 ms."""


def _built(
    n: int, a: str, per_group: int, pending: int, kind: str = "f16", beside: str = "nothing", tell: int = 0
) -> dict:
    return {"WGMMA_N": n, "WGMMA_TYPE": kind, "WGMMA_BITS": TYPES[kind], "A_SHARED": int(a == "shared"),
            "PER_GROUP": per_group, "PENDING": pending, "BESIDE": BESIDE.index(beside), "TELL": tell}  # fmt: skip


def _variants() -> Iterator[tuple]:
    for n in COLUMNS:
        for a in ("shared", "registers"):
            for per_group, pending in ((1, 0), (4, 0), (16, 0), (4, 1)):
                yield n, a, per_group, pending
    for kind in ("tf32", "e4m3"):
        for n in (64, 256):
            yield n, "shared", 16, 0, kind


def _told() -> Iterator[tuple]:
    for n in COLUMNS:
        for a in ("shared", "registers"):
            for per_group in (1, 4, 16):
                yield n, a, per_group, 0, "f16", "nothing", 1


def _beside() -> Iterator[tuple]:
    for n in (64, 128, 256):
        for a in ("shared", "registers"):
            for beside in BESIDE[1:]:
                yield n, a, 4, 1, "f16", beside


def specs() -> list:
    return [spec("wgmma.cu", "wgmma_rate", **_built(*variant)) for variant in (*_variants(), *_told(), *_beside())]


def run(context: Context) -> Iterator[dict]:
    for variant in _variants():
        for warpgroups in WARPGROUPS:
            yield {"kind": "rate", **_rate(context, variant, warpgroups, 0)}
    for variant in _told():
        yield {"kind": "issue", **_rate(context, variant, 1, 0)}
    for variant in _beside():
        for warpgroups, others in ((0, 1), (1, 1), (1, 2), (2, 1)):
            yield {"kind": "beside", **_rate(context, variant, warpgroups, others)}
    for random in (0, 1):
        for n in (128, 256):
            yield _power(context, (n, "shared", 16, 0), random)


def _row(variant: tuple, warpgroups: int) -> dict:
    rest = ("f16", "nothing")[len(variant) - 4 :] if len(variant) < len(_NAMES) else ()
    return {**dict(zip(_NAMES, (*variant, *rest), strict=False)), "warpgroups": warpgroups}


def _rate(context: Context, variant: tuple, warpgroups: int, others: int) -> dict:
    kernel = context.kernel("wgmma.cu", "wgmma_rate", **_built(*variant))
    warps = 4 * (warpgroups + others)
    args = (context.source, i32(warpgroups), i32(TURNS), i32(1), f32(0.999), f32(0.001))
    took, apart, issued, beside = [], [], [], []
    for _ in range(REPEATS + 1):
        stamps = context.stamps(kernel, 1, 32 * warps, args, 4 * warps, SHARED).reshape(warps, 4)
        busy, idle = stamps[: 4 * warpgroups], stamps[4 * warpgroups :]
        if warpgroups:
            ends = busy[:, 1].reshape(warpgroups, 4).max(axis=1)
            whole = ends.max() - busy[:, 0].min()
            took.append(float(whole) / (TURNS * variant[2]))
            apart.append(float(ends.max() - ends.min()) / whole)
            issued.append(float(np.median(busy[:, 3])) / TURNS)
        beside.append(float((idle[:, 3] / (idle[:, 1] - idle[:, 0])).sum()))
    row = {**_row(variant, warpgroups), "others": others}
    if warpgroups:
        row |= {"cycles_per_wgmma": float(np.median(took[1:])), "apart": float(np.median(apart[1:]))}
        if len(variant) > len(_NAMES):
            row |= {"issued_cycles": float(np.median(issued[1:]))}
    return row | ({"beside_per_cycle": float(np.median(beside[1:]))} if others else {})


def _power(context: Context, variant: tuple, random: int) -> dict:
    kernel = context.kernel("wgmma.cu", "wgmma_rate", **_built(*variant))
    grid, warps = context.sms, 8
    rates = []
    for _ in range(4):
        args = (context.source, i32(2), i32(POWER_TURNS), i32(random), f32(0.999), f32(0.001))
        stamps = context.stamps(kernel, grid, 32 * warps, args, 4 * warps * grid, SHARED).reshape(-1, 4)
        rates.append(float(np.median((stamps[:, 1] - stamps[:, 0]) / stamps[:, 2])) * 1e9)
    seconds = float(np.median(stamps[:, 2])) * 1e-9
    return {"kind": "power", **_row(variant, 2), "random": bool(random), "clock_hz": rates, "seconds": seconds}
