"""What one turn of a tile pipeline costs besides its copies and its arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import KIB, Context, i32, settled, spec, u32

SOURCES = ("skeleton.cu",)
NOTES = {
    "kind": "consumer: loop of one warp, barriers always open; hand_over: producing lane and consumer warps; "
    "group: cp.async, commit, wait_group, __syncthreads",
    "mode": "consumer: bookkeeping alone, with the wait, with the wait and one lane's arrival",
    "bytes": "hand_over: of the bulk copy from L2 that the producer issues; 0: it arrives itself",
    "ctas": "hand_over: on every SM",
    "cycles_per_turn": "SM cycles",
    "sass_per_turn": "consumer: instructions of one turn by opcode; null without cuobjdump",
}
MODES = ("loop", "wait", "wait_arrive")
STAGES = (1, 2, 4, 8, 12)
WARPS = (1, 2, 4, 8, 16)
MOST_WARPS = 64
HAND_OVERS = [
    (copied, stages, ctas, warps)
    for copied, ring in ((0, (1, 2, 4, 8)), (16, (1, 2, 4, 8)), (512, (8,)), (2 * KIB, (8,)), (4 * KIB, (8,)))
    for stages in ring
    for ctas in (1, 2, 3)
    for warps in WARPS
    if (warps + 1) * ctas <= MOST_WARPS
]
"""Bytes copied, stages, CTAs on each SM and consumer warps of each; small copies have few bytes to wait for."""
TURNS, REPEATS = 2048, 6


def specs() -> list:
    turns = [spec("skeleton.cu", "consumer_turn", MODE=mode, STAGES=1) for mode in range(len(MODES))]
    groups = [spec("skeleton.cu", "group_turn", MODE=0, STAGES=stages) for stages in STAGES]
    return [*turns, *groups, spec("skeleton.cu", "hand_over", MODE=0, STAGES=1)]


def run(context: Context) -> Iterator[dict]:
    for number, mode in enumerate(MODES):
        kernel = context.kernel("skeleton.cu", "consumer_turn", MODE=number, STAGES=1)
        loops = kernel.sass_loops()
        # The inner loop: the shortest one that does not read the clock.
        found = min((loop.counts for loop in loops or () if "CS2R" not in loop.counts),
                    key=lambda counts: sum(counts.values()), default=None)  # fmt: skip
        args = (i32(TURNS), i32(4), u32(4 * KIB), i32(REPEATS))
        cycles = settled(context.stamps(kernel, 1, 32, args, REPEATS, 16 * KIB))
        yield {
            "kind": "consumer",
            "mode": mode,
            "cycles_per_turn": cycles["cycles_min"] / TURNS,
            "sass_per_turn": None if found is None else dict(found),
        }
    kernel = context.kernel("skeleton.cu", "hand_over", MODE=0, STAGES=1)
    for copied, stages, ctas, warps in HAND_OVERS:
        args = (context.source, i32(TURNS), i32(stages), i32(copied))
        grid, block, shared = ctas * context.sms, 32 * (warps + 1), max(stages * copied, KIB)
        times = [float(context.stamps(kernel, grid, block, args, 1, shared)[0]) for _ in range(REPEATS)]
        yield {
            "kind": "hand_over",
            "bytes": copied,
            "stages": stages,
            "ctas": ctas,
            "consumer_warps": warps,
            "cycles_per_turn": sorted(times[1:])[REPEATS // 2 - 1] / TURNS,
        }
    for stages in STAGES:
        kernel = context.kernel("skeleton.cu", "group_turn", MODE=0, STAGES=stages)
        for warps in WARPS:
            args = (context.source, i32(TURNS), i32(REPEATS))
            cycles = settled(context.stamps(kernel, 1, 32 * warps, args, REPEATS, stages * warps * 512))
            yield {
                "kind": "group",
                "stages": stages,
                "warps": warps,
                "cycles_per_turn": cycles["cycles_min"] / TURNS,
            }
