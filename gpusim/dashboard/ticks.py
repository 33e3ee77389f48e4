"""Labels of the time axis, whose unit is the microsecond: of long windows they are in milliseconds."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Any

__all__ = ["time_ticks"]

MOST = 14
LONG_US = 2000.0
"""Windows from here on are read in milliseconds."""
_ROUND = (1.0, 2.0, 5.0, 10.0)


def time_ticks(low_us: float, high_us: float) -> dict[str, Any]:
    """The axis attributes for a window: Plotly's own ticks with their unit, or round milliseconds."""
    if high_us - low_us < LONG_US:
        return {"ticksuffix": " µs", "nticks": MOST, "separatethousands": True, "exponentformat": "none"}
    least = (high_us - low_us) / 1000.0 / MOST
    power = 10.0 ** floor(log10(least))
    step = next(round_ * power for round_ in _ROUND if round_ * power >= least * (1.0 - 1e-9))
    numbers = range(ceil(low_us / 1000.0 / step), floor(high_us / 1000.0 / step) + 1)
    return {
        "tickmode": "array",
        "tickvals": [1000.0 * step * number for number in numbers],
        "ticktext": [f"{step * number:,.10g} ms" for number in numbers],
    }
