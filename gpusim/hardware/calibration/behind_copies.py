"""From microbenchmarks to what stands behind copies by threads in the load-store unit, and when that is felt."""

from __future__ import annotations

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.hardware.memory.alignment import turns
from gpusim.program import WARP_SIZE

__all__ = ["BEHIND_COPIES_STEPS"]

_QUEUED_BYTES, _FEW_BYTES, _LANE_BYTES = 32 << 10, 8 << 10, 16
"""Copies that just find room in the queue of the load-store unit; so few that nothing waits behind them; of a lane and
instruction."""
_WARP_BYTES = WARP_SIZE * _LANE_BYTES
_MANY_COPIES = 32
"""Instructions of all warps in a burst of copies that is felt in any case."""


def _queue(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """Copies that are issued and not yet taken in: the load-store unit goes on for so long once the last is issued.

    Of 32 KiB by eight warps: of fewer all find room, and of more each warp waits for registers. And for how long it
    takes in copies until warps that multiply get no more fragments: bursts of copies stop them for so much less.
    """
    latency, room = found["sm.lds_latency"].value, []
    for row in b.rows("behind_copies", kind="cp_async", bytes=_QUEUED_BYTES, row=0):
        taken = row["shared_cycles"] - latency
        room.append((1.0 - row["issued_cycles"] / taken) * row["bytes"] / _WARP_BYTES)
    felt = [
        row["copies"] * _WARP_BYTES * turns(row["row"], row["pitch"]) - row["stopped_cycles"]
        for row in b.rows("beside_copies")
        if row["copies"] >= _MANY_COPIES
    ]
    passed, depth = _passed(b)
    return {
        "lsu.queue_passed": Measured(passed, "", "behind_copies (how long, against cycles of a copy)"),
        "lsu.queue_depth": Measured(depth, "cycles", "behind_copies (the same, less that behind few copies)"),
        "lsu.queue": Measured(float(np.median(room)), "", "behind_copies (32 KiB)", float(np.ptp(room))),
        "lsu.queue_felt_after": Measured(
            float(np.median(felt)), "cycles", "beside_copies (32 and 64 copies of a warp)", float(np.std(felt))
        ),
    }


def _passed(b: Benches) -> tuple[float, float]:
    """How many of the last copies are out of the way of what is behind them, and how long it takes to get there.

    The time until a word is there grows by so many cycles with each copy, which depends on how copies lie. What is left
    of it without copies falls as that rises: by as many copies as need not be waited for.
    """
    copies = [row for row in b.rows("behind_copies", kind="cp_async") if row["bytes"] >= _MANY_COPIES * _WARP_BYTES]
    lines = []
    for place in {(row["row"], row["pitch"], row["offset"]) for row in copies}:
        rows = [row for row in copies if (row["row"], row["pitch"], row["offset"]) == place]
        counts = [row["bytes"] / _WARP_BYTES for row in rows]
        lines.append(np.polyfit(counts, [row["shared_cycles"] for row in rows], 1))
    each, rest = np.array(lines).T
    slope, without = np.polyfit(each, rest, 1)
    behind_few = min(
        row["shared_cycles"] - row["issued_cycles"]
        for row in b.rows("behind_copies", kind="cp_async", bytes=_FEW_BYTES)
    )
    return -float(slope), float(without - behind_few)


BEHIND_COPIES_STEPS = (_queue,)
