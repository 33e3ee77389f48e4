"""CTA, named and memory barriers: cost per operation, and the hand-over between warps."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, i32, settled, spec

SOURCES = ("barrier.cu",)
NOTES = {
    "kind": "cta_sync, named_sync: back to back; late: a turn in which all wait for one warp's work; "
    "mbarrier: one operation by one warp; ping_pong: full hand-over and back",
    "cycles": "SM cycles per barrier, turn, operation or round trip",
    "work": "late: dependent FMAs of the warp that comes last",
    "op": "all_lanes: 32 lanes of one warp instruction; wait_done: try_wait loop on a phase already complete",
    "producer_lane": "ping_pong: the producer is one thread, not a whole warp",
    "consumer_lane_waits": "ping_pong: lane 0 waits and the rest follow by __syncwarp; else all lanes wait",
    "all_arrive": "ping_pong: every consumer thread arrives; else one lane per warp",
}
REPEATS = 8
TURNS = 64
SYNCS_PER_TURN = 16
MBARRIER_OPS = ("arrive", "arrive_all_lanes", "expect_tx", "wait_done", "wait_done_all_lanes")
MBARRIER_REPEATS_PER_OP = 256


def specs() -> list:
    return [spec("barrier.cu", "cta_sync")]


def run(context: Context) -> Iterator[dict]:
    yield from _syncs(context)
    yield from _late(context)
    kernel = context.kernel("barrier.cu", "mbarrier_op")
    for op, name in enumerate(MBARRIER_OPS):
        found = settled(context.stamps(kernel, 1, 32, (i32(op), i32(REPEATS)), REPEATS))
        yield {"kind": "mbarrier", "op": name, "cycles": found["cycles_min"] / MBARRIER_REPEATS_PER_OP}
    yield from _ping_pong(context)


def _syncs(context: Context) -> Iterator[dict]:
    kernel = context.kernel("barrier.cu", "cta_sync")
    for warps in (1, 2, 4, 8, 12, 16, 24, 32):
        found = settled(context.stamps(kernel, 1, 32 * warps, (i32(TURNS), i32(REPEATS)), REPEATS))
        yield {"kind": "cta_sync", "warps": warps, "cycles": found["cycles_min"] / (TURNS * SYNCS_PER_TURN)}
    kernel = context.kernel("barrier.cu", "named_sync")
    for warps in (1, 2, 4, 8, 12, 16, 24, 31):
        args = (i32(32 * warps), i32(TURNS), i32(REPEATS))
        found = settled(context.stamps(kernel, 1, 32 * (warps + 1), args, REPEATS))
        yield {"kind": "named_sync", "warps": warps, "cycles": found["cycles_min"] / (TURNS * SYNCS_PER_TURN)}


def _late(context: Context) -> Iterator[dict]:
    kernel, turns = context.kernel("barrier.cu", "late_warp"), 512
    for work in (10, 40):
        for warps in (1, 2, 4, 8, 16, 24, 32):
            args = (i32(work), i32(turns), i32(REPEATS))
            found = settled(context.stamps(kernel, 1, 32 * warps, args, REPEATS))
            yield {"kind": "late", "warps": warps, "work": work, "cycles": found["cycles_min"] / turns}


def _ping_pong(context: Context) -> Iterator[dict]:
    kernel, turns = context.kernel("barrier.cu", "ping_pong"), 512
    for mode in range(8):
        for consumers in (1, 2, 4, 8, 16):
            args = (i32(mode), i32(turns), i32(REPEATS))
            found = settled(context.stamps(kernel, 1, 32 * (consumers + 1), args, REPEATS))
            yield {
                "kind": "ping_pong",
                "consumer_warps": consumers,
                "producer_lane": bool(mode & 1),
                "consumer_lane_waits": bool(mode & 2),
                "all_arrive": bool(mode & 4),
                "cycles": found["cycles_min"] / turns,
                "cycles_median": found["cycles_median"] / turns,
            }
