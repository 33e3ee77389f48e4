"""Where the slider of a parameter rests: every value of a short range, round steps by factors in a long one."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["stops_of"]

MOST_STEPS = 24
"""Up to so many values each has a place of its own."""
REACH = 16
"""In a long range a slider goes from a sixteenth of the value that a parameter has to sixteen times as much."""
Number = TypeVar("Number", int, float)


def stops_of(base: Number, least: Number | None, most: Number | None, step: int | None) -> tuple[Number, ...]:
    """Ascending values from ``least`` to ``most``, multiples of ``step``, ``base`` among them.

    Empty for what is not bounded on both sides, and where nothing else than ``base`` can be chosen.
    """
    if least is None or most is None or not least <= base <= most:
        return ()
    whole, step = isinstance(base, int), step or 1
    if whole and (most - least) // step < MOST_STEPS:
        found = {value for value in range(int(least), int(most) + 1) if value % step == 0}
    else:
        low, high = (max(least, base / REACH), min(most, base * REACH)) if base else (least, most)
        # In whole numbers 1, 2, 3, 4, 6, 8, 12 …; else by the same factors from the value itself.
        unit = 1 if whole else base or most / REACH
        ladder = (unit * factor * 2.0**power for power in range(-5, 64) for factor in (1.0, 1.5))
        found = {value for value in ladder if low <= value <= high}
        found = {int(value) for value in found if value % step == 0} if whole else {float(f"{v:.6g}") for v in found}
        found |= {least} if least == 0 else set()
    found.add(base)
    return tuple(sorted(found)) if len(found) > 1 else ()
