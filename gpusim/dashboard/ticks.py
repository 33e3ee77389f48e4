"""Round numbers for axes. The unit of the time axis is the microsecond; labels of long windows are in milliseconds."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Any

__all__ = ["round_numbers", "time_ticks"]

MOST = 14
LONG_US = 2000.0
"""Windows from here on are read in milliseconds."""
_ROUND = (1.0, 2.0, 5.0, 10.0)


def time_ticks(low_us: float, high_us: float) -> dict[str, Any]:
    """The axis attributes for a window: Plotly's own ticks with their unit, or round milliseconds."""
    if high_us - low_us < LONG_US:
        return {"ticksuffix": " µs", "nticks": MOST, "separatethousands": True, "exponentformat": "none"}
    numbers = round_numbers(low_us / 1000.0, high_us / 1000.0, MOST)
    return {
        "tickmode": "array",
        "tickvals": [1000.0 * number for number in numbers],
        "ticktext": [f"{number:,.10g} ms" for number in numbers],
    }


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """At most ``most`` or so multiples of 1, 2 or 5 times a power of ten, from ``low`` to ``high``."""
    least = (high - low) / most
    power = 10.0 ** floor(log10(least))
    step = next(round_ * power for round_ in _ROUND if round_ * power >= least * (1.0 - 1e-9))
    return [step * number for number in range(ceil(low / step), floor(high / step) + 1)]
