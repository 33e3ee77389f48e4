"""Where the slider of a parameter rests: every value of a short range, round steps by factors in a long one."""

from __future__ import annotations

import re
from typing import TypeVar

__all__ = ["spelled_stops", "stops_of"]

MOST_STEPS = 24
"""Up to so many values each has a place of its own."""
REACH = 16
"""In a long range a slider goes from a sixteenth of the value that a parameter has to sixteen times as much."""
_OF_PROGRAMS: dict[str, tuple[int, int | None, int | None]] = {
    "stages": (1, 8, None), "warps": (1, 16, None), "ctas_per_sm": (1, 16, None), "registers": (24, 255, 8),
    "grid": (1, None, None), "tiles_per_cta": (1, None, None), "chunks": (1, None, None), "streams": (1, None, None),
    "blocks": (1, None, None),
}  # fmt: skip
"""Numbers of a spelled-out program that people try others of, by key: least, most and step."""
_WITH_UNIT = re.compile(r"(\d+(?:\.\d+)?) ([A-Za-zµ]+)")
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


def spelled_stops(key: str, value: float | str) -> tuple[tuple[float, str], ...]:
    """Stops of a number of a spelled-out program, with what one types for each; empty where a slider helps nobody."""
    if isinstance(value, int) and key in _OF_PROGRAMS:
        least, most, step = _OF_PROGRAMS[key]
        stops = stops_of(value, least, max(value, most or REACH * value), step)
        return tuple((stop, str(stop)) for stop in stops)
    found = _WITH_UNIT.fullmatch(str(value))
    number = float(found[1]) if found else 0.0
    if not number:
        return ()
    stops = stops_of(number, number / REACH, number * REACH, None)
    return tuple((stop, str(value) if stop == number else f"{stop:g} {found[2]}") for stop in stops)
