"""Strided and random access: sectors and lines a second from L2 and from DRAM, loads and stores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import KIB, L2_RANGE, MEMORY_RANGE, Context, clamp, i32, spec, u64

SOURCES = ("access.cu",)
NOTES = {
    "kind": "throughput: all warps that fit; issue: one turn, until the last warp has issued its accesses",
    "stride": "vectors of lane_bytes from lane to lane; 0: random sectors",
    "cycles": "median over CTAs, first stamp to last",
    "bytes_per_s": "useful bytes, whole device, event to event, launch of an empty kernel left in",
    "bytes_per_cycle_per_sm": "useful bytes, one SM alone or each of all",
    "range": "bytes of the region",
    "shared_bytes": "carve_out: of the one CTA of an SM; L1 has what the 256 KiB leave",
    "segment": "random: bytes of a block that neighbouring lanes read together; less than 2 lanes: one lane a sector",
}
STRIDES = (1, 2, 3, 4, 6, 8, 16, 32, 64)
WIDTHS = (4, 8, 16)
SEGMENTS = (32, 64, 128, 256, 512, 1024, 4096)
UNROLL = 4


def specs() -> list:
    return [spec("access.cu", "access", **variant) for variant in (*_variants(), *_segments())]


def _segments() -> Iterator[dict[str, int]]:
    for store in (0, 1):
        for segment in SEGMENTS:
            yield _variant(16, 1, store, UNROLL, segment)


def _variants() -> Iterator[dict[str, int]]:
    for width in WIDTHS:
        for random in (0, 1):
            for store in (0, 1):
                for unroll in (UNROLL,) if store else (1, UNROLL):
                    yield _variant(width, random, store, unroll)
    yield _variant(16, 0, 0, 8)


def _variant(width: int, random: int, store: int, unroll: int = UNROLL, segment: int | None = None) -> dict[str, int]:
    # By default each lane alone: a segment of one lane, but of a sector at least apart.
    own = {"SEGMENT": segment or max(width, 32), "ALONE": int(segment is None)}
    return {"WIDTH": width, "RANDOM": random, "STORE": store, "UNROLL": unroll, **own}


def run(context: Context) -> Iterator[dict]:
    for variant in _variants():
        kernel = context.kernel("access.cu", "access", **variant)
        places = [("dram", context.sms), ("l2", context.sms), ("l2", 1)]
        for stride in (0,) if variant["RANDOM"] else STRIDES:
            if variant["UNROLL"] == UNROLL:
                for source, sms in places:
                    yield _throughput(context, kernel, variant, stride, source, sms)
            if not variant["STORE"] and stride in {0, 1, 8, 32}:
                for sms in (1, context.sms):
                    for warps in (1, 4, 16, 32, 64):
                        for source in ("dram", "l2"):
                            yield _issue(context, kernel, variant, stride, source, sms, warps)
    yield from _blocks(context)
    yield from _carve_outs(context)
    alone = _variant(16, 1, 0)
    kernel = context.kernel("access.cu", "access", **alone)
    for bits in range(23, 32):
        for shared in (0, 224 * KIB):
            row = _throughput(context, kernel, alone, 0, "dram", context.sms, 1 << bits, shared)
            yield {**row, "kind": "footprint", "shared_bytes": shared}


def _blocks(context: Context) -> Iterator[dict]:
    for variant in _segments():
        kernel = context.kernel("access.cu", "access", **variant)
        for source in ("dram", "l2"):
            row = _throughput(context, kernel, variant, 0, source, context.sms)
            yield {**row, "kind": "segment", "segment": variant["SEGMENT"]}


def _carve_outs(context: Context) -> Iterator[dict]:
    """One CTA per SM whose shared memory leaves less and less to L1."""
    for variant in (_variant(16, 1, 0), _variant(16, 0, 0), _variant(16, 0, 0, 8)):
        kernel, grid, block = context.kernel("access.cu", "access", **variant), context.sms, 1024
        for shared in (0, 32, 64, 100, 132, 164, 196, 224):
            for source, span in (("l2", L2_RANGE), ("dram", MEMORY_RANGE)):
                turns, stride = 64, 0 if variant["RANDOM"] else 1
                args = (context.source, u64(1), i32(span.bit_length() - 1), i32(turns))
                launch = context.warm if source == "l2" else context.cold
                stamps = launch(kernel, grid, block, args, 3 * grid, shared * KIB)
                cycles = float(np.median(stamps[:grid]))
                useful = block * variant["UNROLL"] * variant["WIDTH"] * turns
                yield {"kind": "carve_out", **_row(variant, stride, source, grid), "shared_bytes": shared * KIB,
                       "cycles": cycles, "issue_cycles": float(np.median(stamps[2 * grid:])),
                       "bytes_per_cycle_per_sm": useful / cycles}  # fmt: skip


def _row(variant: dict, stride: int, source: str, sms: int) -> dict:
    return {
        "lane_bytes": variant["WIDTH"], "unroll": variant["UNROLL"], "store": bool(variant["STORE"]),
        "stride": stride, "source": source, "sms": sms,
    }  # fmt: skip


def _throughput(
    context: Context,
    kernel,
    variant: dict,
    stride: int,
    source: str,
    sms: int,
    span: int | None = None,
    shared: int = 0,
) -> dict:
    width, unroll = variant["WIDTH"], variant["UNROLL"]
    grid, block = 2 * sms if sms > 1 and not shared else sms, 1024
    per_turn = grid * block * unroll
    if span is None:
        span = L2_RANGE if source == "l2" else MEMORY_RANGE
    # Of DRAM no sector twice, or the second one would be a hit.
    most = span // (max(stride, 1) * width) // per_turn if source == "dram" and stride else 256
    turns = clamp(most, 2, 64)
    memory = context.target if variant["STORE"] else context.source
    args = (memory, u64(stride), i32(span.bit_length() - 1), i32(turns))
    launch = context.warm if source == "l2" else context.cold
    stamps = launch(kernel, grid, block, args, 3 * grid, shared)
    out = _buffer(3 * grid)
    times = time_launch(
        lambda: kernel.launch(grid, block, (out, *args), shared), 5, 1, None if source == "l2" else context.flush
    )
    useful = per_turn * turns * width
    cycles = float(np.median(stamps[:grid]))
    return {
        "kind": "throughput",
        **_row(variant, stride, source, sms),
        "range": span,
        "turns": turns,
        "cycles": cycles,
        "bytes_per_s": useful / times.median_s,
        "bytes_per_cycle_per_sm": useful / sms / float(stamps[:grid].max()),
        "seconds": times.median_s,
    }


def _issue(context: Context, kernel, variant: dict, stride: int, source: str, sms: int, warps: int) -> dict:
    grid, block = (2 * sms, 1024) if warps > 32 else (sms, 32 * warps)
    if warps > 32 and sms == 1:
        grid = 2 * context.sms  # two CTAs on an SM only when all are full
    span = L2_RANGE if source == "l2" else MEMORY_RANGE
    args = (context.source, u64(stride), i32(span.bit_length() - 1), i32(1))
    # The first launch loads the instructions.
    context.stamps(kernel, grid, block, args, 3 * grid)
    launch = context.warm if source == "l2" else context.cold
    stamps = launch(kernel, grid, block, args, 3 * grid).reshape(3, grid)
    return {
        "kind": "issue",
        **_row(variant, stride, source, sms),
        "warps_per_sm": warps,
        "issue_cycles": float(np.median(stamps[2])),
        "cycles": float(np.median(stamps[0])),
    }


def _buffer(count: int) -> Any:
    import cupy

    return cupy.zeros(count, dtype=cupy.int64)
