"""Issue rate and dependent-issue latency of single instruction kinds, on one SM."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, f32, i32, settled, spec

SOURCES = ("issue.cu",)
NOTES = {
    "op": "instruction; xab is x=x*a+b, xax x=x*a+x, acc x=a*b+x; mix11 and mix31 are FFMA to IADD3 in turn",
    "ilp": "independent chains per warp; in a mix the two kinds share them",
    "body": "instructions of one loop turn, loop control (3 more) left out",
    "cycles_per_instruction": "SM cycles per warp instruction of one scheduler; minimum over repeats",
    "cycles_per_instruction_median": "the same, median",
}
OPS = {
    "ffma_xab": 0,
    "ffma_xax": 1,
    "ffma_acc": 2,
    "iadd3": 3,
    "lop3": 4,
    "imad": 5,
    "fadd": 6,
    "mufu_ex2": 7,
    "mix11": 8,
    "mix31": 9,
}
WARPS_PER_SCHEDULER = (1, 2, 3, 4, 8)
INSTRUCTIONS = 16384
REPEATS = 6


def variants() -> Iterator[tuple[str, int, int]]:
    """(op, chains, loop body): all bodies for the project's own FFMA, one body for the rest."""
    for body in (64, 256, 1024):
        for ilp in (1, 2, 3, 4, 6, 8):
            yield "ffma_xab", ilp, body
    for op in ("ffma_xax", "ffma_acc"):
        for ilp in (1, 2, 3, 4, 6, 8):
            yield op, ilp, 256
    for op in ("iadd3", "lop3", "imad", "fadd", "mufu_ex2"):
        for ilp in (1, 2, 4, 8):
            yield op, ilp, 256
    for op in ("mix11", "mix31"):
        for ilp in (1, 4, 8):
            yield op, ilp, 256


def specs() -> list:
    return [spec("issue.cu", "issue", OP=OPS[op], ILP=ilp, BODY=body) for op, ilp, body in variants()]


def run(context: Context) -> Iterator[dict]:
    for op, ilp, body in variants():
        kernel = context.kernel("issue.cu", "issue", OP=OPS[op], ILP=ilp, BODY=body)
        real_body = body // ilp * ilp
        turns = INSTRUCTIONS // body
        args = (f32(0.999), f32(0.001), i32(3), i32(5), i32(turns), i32(REPEATS))
        for warps in WARPS_PER_SCHEDULER:
            found = settled(context.stamps(kernel, 1, 4 * warps * 32, args, REPEATS))
            issued = turns * real_body * warps
            yield {
                "op": op,
                "ilp": ilp,
                "body": real_body,
                "warps_per_scheduler": warps,
                "cycles_per_instruction": found["cycles_min"] / issued,
                "cycles_per_instruction_median": found["cycles_median"] / issued,
            }
