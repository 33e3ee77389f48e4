"""Reads and writes in order of address: by CTAs that come and go, piece after piece, or not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import GIB, KIB, MEMORY_RANGE, Context, i32, spec, u32, u64

SOURCES = ("in_order.cu", "pieces.cu", "mixed_pieces.cu")
NOTES = {
    "kind": "stay: a grid-stride loop; come_and_go: each CTA has a piece of its own, and there are many of them;"
    " pieces: the same with smaller CTAs; mixed: with one turn of each CTA, in order, and several streams of 1 GiB",
    "reads, writes": "of mixed: streams read and written",
    "copy": "what is written was read; else nothing is read",
    "op": "of pieces: read, copy (what is written was read) or write",
    "in_order": "of pieces: CTA after CTA has the next one; else they are spread over all memory",
    "turns, unroll": "of pieces: vectors of 16 bytes per thread, one turn after the other, unroll at once",
    "cta_bytes": "what one CTA writes, or reads",
    "bytes_per_s": "written (and read), from the median event-to-event time",
}
BLOCK, UNROLL = 256, 4
TURN_BYTES = 16 * BLOCK * UNROLL
PIECES = tuple(size * KIB for size in (16, 32, 64, 128, 256, 512, 1024))
STAYING = (2, 4, 8)
"""CTAs per SM."""
REPEATS = 5
OPS = ("read", "copy", "write")
SPREAD = 0x9E3779B1
"""Step between the pieces of CTAs that follow each other: odd, so that each piece has its turn."""
RESIDENT = ((256, (4, 6, 8)), (512, (2, 3, 4)))
"""Threads of a CTA, and how many of them an SM has."""
TURNS, UNROLLS = (1, 2, 4, 16), (1, 2)
SHARED_BYTES = 227 * KIB
MIXES = ((3, 1), (1, 1), (1, 3))
"""Streams read and written."""


def specs() -> list:
    staying = [spec("in_order.cu", "in_order", STRIDE=stride, COPY=copy) for stride in (0, 1) for copy in (0, 1)]
    mixed = [
        spec("mixed_pieces.cu", "mixed_pieces", READS=reads, WRITES=writes, UNROLL=unroll)
        for reads, writes in MIXES
        for unroll in UNROLLS
    ]
    pieces = [spec("pieces.cu", "pieces", OP=op, UNROLL=unroll) for op in range(len(OPS)) for unroll in UNROLLS]
    return staying + mixed + pieces


def run(context: Context) -> Iterator[dict]:
    for copy in (0, 1):
        for ctas_per_sm in STAYING:
            grid = context.sms * ctas_per_sm
            yield _measure(context, "stay", copy, grid, MEMORY_RANGE // (grid * TURN_BYTES))
        for piece in PIECES:
            yield _measure(context, "come_and_go", copy, MEMORY_RANGE // piece, piece // TURN_BYTES)
    for (reads, writes), unroll, threads in product(MIXES, UNROLLS, (256, 512)):
        yield _mixed(context, reads, writes, unroll, threads)
    cases = product(OPS, (True, False), RESIDENT, TURNS, UNROLLS)
    for op, in_order, (threads, resident), turns, unroll in cases:
        for ctas_per_sm in resident:
            yield _pieces(context, op, in_order, threads, ctas_per_sm, turns, unroll)


def _pieces(context: Context, op: str, in_order: bool, threads: int, ctas_per_sm: int, turns: int, unroll: int) -> dict:
    kernel = context.kernel("pieces.cu", "pieces", OP=OPS.index(op), UNROLL=unroll)
    piece = 16 * threads * turns * unroll
    grid = MEMORY_RANGE // piece
    # So much that no further CTA fits.
    shared = SHARED_BYTES // ctas_per_sm // KIB * KIB - KIB
    args = (context.source, context.target, i32(turns), u32(1 if in_order else SPREAD))
    times = time_launch(lambda: kernel.launch(grid, threads, args, shared), REPEATS, 1)
    return {
        "kind": "pieces",
        "op": op,
        "in_order": in_order,
        "threads": threads,
        "ctas_per_sm": ctas_per_sm,
        "turns": turns,
        "unroll": unroll,
        "grid": grid,
        "cta_bytes": piece,
        "seconds": times.median_s,
        "bytes_per_s": grid * piece * (1 + (op == "copy")) / times.median_s,
    }


def _mixed(context: Context, reads: int, writes: int, unroll: int, threads: int) -> dict:
    kernel = context.kernel("mixed_pieces.cu", "mixed_pieces", READS=reads, WRITES=writes, UNROLL=unroll)
    piece = 16 * threads * unroll
    args = (context.source, context.target, u64(GIB // 16))
    times = time_launch(lambda: kernel.launch(GIB // piece, threads, args), REPEATS, 1)
    return {
        "kind": "mixed",
        "reads": reads,
        "writes": writes,
        "threads": threads,
        "unroll": unroll,
        "grid": GIB // piece,
        "cta_bytes": piece * writes,
        "seconds": times.median_s,
        "bytes_per_s": GIB * (reads + writes) / times.median_s,
    }


def _measure(context: Context, kind: str, copy: int, grid: int, turns: int) -> dict:
    kernel = context.kernel("in_order.cu", "in_order", STRIDE=int(kind == "stay"), COPY=copy)
    args = (context.source, context.target, i32(turns))
    times = time_launch(lambda: kernel.launch(grid, BLOCK, args), REPEATS, 1)
    return {
        "kind": kind,
        "copy": bool(copy),
        "grid": grid,
        "cta_bytes": turns * TURN_BYTES,
        "seconds": times.median_s,
        "bytes_per_s": grid * turns * TURN_BYTES * (1 + copy) / times.median_s,
    }
