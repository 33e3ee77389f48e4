"""From microbenchmarks to what stands behind copies by threads in the load-store unit, and when that is felt."""

from __future__ import annotations

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.hardware.memory.alignment import turns
from gpusim.program import WARP_SIZE

__all__ = ["BEHIND_COPIES_STEPS"]

_QUEUED_BYTES, _LANE_BYTES = 32 << 10, 16
"""Copies that just find room in the queue of the load-store unit; of a lane and instruction."""
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
        room.append((1.0 - row["issued_cycles"] / taken) * row["bytes"] / (WARP_SIZE * _LANE_BYTES))
    felt = [
        row["copies"] * WARP_SIZE * _LANE_BYTES * turns(row["row"], row["pitch"]) - row["stopped_cycles"]
        for row in b.rows("beside_copies")
        if row["copies"] >= _MANY_COPIES
    ]
    return {
        "lsu.queue": Measured(float(np.median(room)), "", "behind_copies (32 KiB)", float(np.ptp(room))),
        "lsu.queue_felt_after": Measured(
            float(np.median(felt)), "cycles", "beside_copies (32 and 64 copies of a warp)", float(np.std(felt))
        ),
    }


BEHIND_COPIES_STEPS = (_queue,)
