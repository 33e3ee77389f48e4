"""Issue rate and dependent-issue latency of single instruction kinds, on one SM."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, f32, i32, settled, spec

SOURCES = ("issue.cu",)
NOTES = {
    "op": "instruction; xab is x=x*a+b, xax x=x*a+x, acc x=a*b+x; mix11 and mix31 are FFMA to IADD3 in turn",
    "ilp": "independent chains per warp; in a mix the two kinds share them",
    "body": "instructions of one loop turn, loop control (3 more) left out",
    "beside": "every second instruction is another one",
    "sass_turn": "instructions of one turn as compiled; null without cuobjdump",
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
    "shf": 10,
    "prmt": 11,
    "fmnmx": 12,
    "i2f": 13,
    "i2f_byte": 14,
    "f2i": 15,
    "f2f_half": 16,
    "popc": 17,
    "dfma": 18,
    "hfma2": 19,
    "imad_wide": 20,
    "shfl": 21,
    "dp4a": 22,
    "vote": 23,
    "select": 24,
    "constant": 25,
}
BESIDE = ("alone", "ffma", "iadd3")
WARPS_PER_SCHEDULER = (1, 2, 3, 4, 8)
INSTRUCTIONS = 16384
REPEATS = 6


def variants() -> Iterator[tuple[str, int, int, str]]:
    """(op, chains, loop body, beside): all bodies for the project's own FFMA, one body for the rest."""
    for body in (64, 256, 1024):
        for ilp in (1, 2, 3, 4, 6, 8):
            yield "ffma_xab", ilp, body, "alone"
    for op in ("ffma_xax", "ffma_acc"):
        for ilp in (1, 2, 3, 4, 6, 8):
            yield op, ilp, 256, "alone"
    for op in ("iadd3", "lop3", "imad", "fadd", "mufu_ex2"):
        for ilp in (1, 2, 4, 8):
            yield op, ilp, 256, "alone"
    for op in ("mix11", "mix31"):
        for ilp in (1, 4, 8):
            yield op, ilp, 256, "alone"
    for op in list(OPS)[10:]:
        yield op, 1, 256, "alone"
        yield op, 8, 256, "alone"
    for op in ("imad", "mufu_ex2", "lop3", *list(OPS)[10:]):
        for beside in ("ffma", "iadd3"):
            yield op, 8, 256, beside


def built(op: str, ilp: int, body: int, beside: str) -> dict:
    return {"OP": OPS[op], "ILP": ilp, "BODY": body, "BESIDE": BESIDE.index(beside)}


def specs() -> list:
    return [spec("issue.cu", "issue", **built(*variant)) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    for op, ilp, body, beside in variants():
        kernel = context.kernel("issue.cu", "issue", **built(op, ilp, body, beside))
        real_body = body // ilp * ilp
        loops = kernel.sass_loops() or []
        sass = next((loop.counts for loop in loops if sum(loop.counts.values()) >= real_body), None)
        turns = INSTRUCTIONS // body
        args = (f32(0.999), f32(0.001), i32(3), i32(5), i32(turns), i32(REPEATS))
        for warps in WARPS_PER_SCHEDULER:
            found = settled(context.stamps(kernel, 1, 4 * warps * 32, args, REPEATS))
            issued = turns * real_body * warps
            yield {
                "op": op,
                "ilp": ilp,
                "body": real_body,
                "beside": beside,
                "sass_turn": sass if warps == 1 else None,
                "warps_per_scheduler": warps,
                "cycles_per_instruction": found["cycles_min"] / issued,
                "cycles_per_instruction_median": found["cycles_median"] / issued,
            }
