"""What L2 saves where SMs read the same, and for how long (bench `moving_apart`); its far half (bench `far`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.hardware.memory.loaded_latency import far_part

__all__ = ["GPC_SHARING_STEPS"]

TILE_BYTES = 24 << 10
"""A tile of the bench, of which a CTA reads `own_bytes` alone."""
BOUND_BYTES = 4 << 10, 8 << 10
"""Of these so many that L2 is what a CTA waits for, or is so soon."""
LATE_KILOCYCLES = 100.0
"""From then on what SMs share falls as one over the time."""
FITTING_BYTES = 36 << 20
"""Of an array that so nearly fits into L2 that a few per cent of random reads miss it."""
LEAST = 0.15
"""What one read still serves beyond one SM, below which it cannot be told from nothing."""


def _together(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """How many SMs a read of L2 serves at first; after how long fewer; what an SM takes in where nothing is its own.

    A tile takes L2 as long as its own bytes and the others, each counted once for those that it serves, so that the
    rate tells how many these are. Late ones are m for which (m - 1) x time is the same at any time.
    """
    alone = {
        ctas: float(np.median([row["bytes_per_cycle_per_sm"] for row in _rows(b, TILE_BYTES, ctas)])) for ctas in (1, 2)
    }

    def served(own: int, row: dict[str, Any]) -> float:
        part = own / TILE_BYTES
        return (1.0 - part) / (alone[row["ctas"]] / row["bytes_per_cycle_per_sm"] - part)

    # The more a CTA reads alone the sooner L2 is what it waits for, and one CTA is done sooner with a window.
    first = served(BOUND_BYTES[-1], min(_rows(b, BOUND_BYTES[-1], 1), key=lambda row: row["kilocycles"]))
    late = [
        (served(own, row) - 1.0) * row["kilocycles"]
        for own in BOUND_BYTES
        for ctas in alone
        for row in _rows(b, own, ctas)
        if row["kilocycles"] > LATE_KILOCYCLES and served(own, row) > 1.0 + LEAST
    ]
    apart = 1e3 * float(np.median(late)) / (first - 1.0)
    full = [row["bytes_per_cycle_per_sm"] for ctas in alone for row in _rows(b, 0, ctas)]
    bench = "moving_apart"
    return {
        "l2.reads_merged": Measured(first, "", f"{bench} (a third of each tile read alone, first window)"),
        "l2.moving_apart": Measured(
            apart, "cycles", f"{bench} (a sixth and a third of each tile read alone, later windows)",
            1e3 * float(np.std(late)) / (first - 1.0),
        ),
        "gpc.sm_bandwidth": Measured(
            float(np.median(full)), "B/cycle", f"{bench} (all SMs read the same)", float(np.std(full))
        ),
    }  # fmt: skip


def _far(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """How much longer a request takes L2 that its far half serves, of arrays that nearly all fit."""
    rates = {row["footprint_bytes"]: row["sectors_per_cycle"] for row in b.rows("far")}
    capacity = float(b.file("far")["device"]["l2_bytes"])
    near = [rate for size, rate in rates.items() if not far_part(size, capacity)]
    larger = [size for size in rates if capacity / 2 < size <= FITTING_BYTES]
    far = np.array([far_part(size, capacity) for size in larger])
    longer = np.array([float(np.median(near)) / rates[size] - 1.0 for size in larger])
    each = float(far @ longer / (far @ far))
    return {"l2.far_request": Measured(each, "", "far (beyond half of L2, up to 36 MiB)", float(np.std(longer / far)))}


def _rows(b: Benches, own: int, ctas: int) -> list[dict[str, Any]]:
    return b.rows("moving_apart", own_bytes=own, ctas=ctas, pace=0)


GPC_SHARING_STEPS = (_together, _far)
