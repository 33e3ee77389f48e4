"""How unequal the latencies of single loads from DRAM are, and how far warps drift apart by it: bench `walk`."""

from __future__ import annotations

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured

__all__ = ["WALK_STEPS"]

LONG, FEW = 1024, 64
"""Turns of which the SMs' own distance to memory shows, and turns up to which chance alone does."""
ONE_LINE = 4
"""Bytes a lane of a warp that loads one line."""
MANY_BYTES = 2048
"""From here on a copy waits for many lines."""


def _walk(b: Benches, _: dict) -> dict[str, Measured]:
    """Latency of one line, all SMs; its deviation and that of SMs' means, from the ends of warps.

    After n loads the ends of warps that never meet differ by a random walk, with n, and by how far SMs are from memory,
    with the square of n.
    """
    seen = {
        source: [
            row["load_cycles"]
            for row in b.rows("walk", source=source, lane_bytes=ONE_LINE, streams=1, ctas=b.sms("walk"), turns=256)
            if row["order"] != "parts" and not row["meeting"] and row["warps"] < 8
        ]
        for source in ("l2", "dram")
    }
    beyond = np.mean(seen["dram"]) - np.mean(seen["l2"])
    ends = b.rows("walk", source="dram", streams=1, meeting=False, warps=1)
    jitter = [row["warp_deviation"] / row["turns"] ** 0.5 for row in ends if row["turns"] <= FEW]
    # Warps that read parts of their own are now and then much further apart after 16 loads.
    walk = float(np.median(jitter))
    drifts = [
        max(row["warp_deviation"] ** 2 - walk**2 * LONG, 0.0) ** 0.5 / LONG for row in ends if row["turns"] == LONG
    ]
    many = [
        (row["cycles_p90"] - row["cycles_p10"]) / 2.563
        for row in b.rows("tma", kind="latency", source="dram")
        if row["bytes"] >= MANY_BYTES
    ]
    return {
        "dram.latency": Measured(
            float(beyond), "cycles", "walk (one line, DRAM less L2, all SMs)", float(np.std(seen["dram"]))
        ),
        "dram.latency_jitter": Measured(
            walk, "cycles", "walk (ends of warps after 16 and 64 loads of one and four lines)", float(np.std(jitter))
        ),
        "dram.drift": Measured(
            float(np.mean(drifts)), "cycles", "walk (ends of warps after 1024 loads)", float(np.std(drifts))
        ),
        "dram.latency_jitter_many_lines": Measured(
            float(np.mean(many)),
            "cycles",
            "tma (latency, DRAM, 2 KiB and more: 10 % to 90 % range as a standard deviation)",
        ),
    }


WALK_STEPS = (_walk,)
