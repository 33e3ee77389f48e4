"""Round numbers for axes. The unit of the time axis is the microsecond; labels of long windows are in milliseconds."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Any

__all__ = ["LONG_US", "round_numbers", "time_ticks"]

MOST, LABEL_PX, EDGE_PX = 14, 75, 4
BLANK = "\u2007"
"""A space as wide as a digit, which is kept at the beginning of a label."""
LONG_US = 2000.0
"""Windows, and times of a sweep, are read in milliseconds from here on."""
_ROUND = (1.0, 2.0, 5.0, 10.0)


def time_ticks(low_us: float, high_us: float, width_px: float = 1200.0) -> dict[str, Any]:
    """The axis attributes for a window: round times, also of what a pan brings into sight before the next picture."""
    span = high_us - low_us
    unit, name = (1000.0, "ms") if span >= LONG_US else (1.0, "µs")
    most = min(max(int(width_px / LABEL_PX), 3), MOST)
    numbers = round_numbers((low_us - span) / unit, (high_us + span) / unit, 3 * most)
    # Half of a zero at the left edge would be cut off there, or none of it shown: it stands on the right of its tick.
    at_edge = 0.0 <= -low_us < EDGE_PX / width_px * span
    zero = f"{BLANK}0" if at_edge else "0"
    return {
        "tickmode": "array",
        "tickvals": [unit * number for number in numbers],
        # The unit of a zero at the left edge would be cut off there.
        "ticktext": [f"{number:,.10g} {name}" if number else zero for number in numbers],
        "ticklabeloverflow": "allow" if at_edge else "hide past div",
    }


def round_numbers(low: float, high: float, most: int) -> list[float]:
    """At most ``most`` or so multiples of 1, 2 or 5 times a power of ten, from ``low`` to ``high``."""
    least = (high - low) / most
    power = 10.0 ** floor(log10(least))
    step = next(round_ * power for round_ in _ROUND if round_ * power >= least * (1.0 - 1e-9))
    return [step * number for number in range(ceil(low / step), floor(high / step) + 1)]
