"""Programmatic launches: from bench rows to quantities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusim.host.calibration.benches import Found, HostBenches, us

__all__ = ["STEPS"]

_ROOM = 132
"""Blocks of the rows that count: one on each SM, with room for those of the next kernel beside them."""


def _between_kernels(b: HostBenches, _: Found) -> Found:
    """From when all blocks have let the next kernel begin until it does, and from their end until it goes on.

    The first is to the first instruction of a block, which comes when its SM has taken it.
    """
    found = {}
    for place, graph in (("stream", False), ("graph", True)):
        rows = b.rows("programmatic", kind="early", graph=graph, grid=_ROOM, who="all", shared_bytes=0, prologue_s=0.0)
        rows = [row for row in rows if not row["late"]]
        for name, field in (("start", "begins"), ("wait", "goes_on")):
            times = [1e6 * row[f"{field}_median_s"] for row in rows]
            if name == "start":
                times = [time - b.restart_us for time in times]
            off = max(1e6 * (row[f"{field}_p90_s"] - row[f"{field}_p10_s"]) for row in rows)
            found[f"{place}.programmatic_{name}"] = us(float(np.median(times)), f"programmatic ({field})", off)
    return found


STEPS: tuple[Callable[[HostBenches, Found], Found], ...] = (_between_kernels,)
