"""Which steps the time stamps of a recorded kernel tell apart, and in which order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from gpusim.program.time_stamps import STEPS, Turns
from gpusim.timeline import KINDS, Timeline

__all__ = ["steps_told"]

_ROLE = re.compile(r"^sm\[\d+\]\.cta\[\d+\]\.(\w+)$")
_MOST = 32
"""Steps of a turn at most."""


def steps_told(measured: Timeline) -> Turns:
    """The steps of one turn of each role of a recorded kernel; none if it took no stamps."""
    if "overhead" not in measured.meta:
        return {}
    turns: dict[str, tuple[str, ...]] = {}
    for lane, name in enumerate(measured.lanes):
        role = _ROLE.match(name)
        if role is None or role[1] in turns:
            continue
        rows = np.flatnonzero((measured.lane == lane) & (measured.tile >= 0))
        kinds = [KINDS[kind] for kind in measured.kind[rows[np.argsort(measured.start_s[rows], kind="stable")]]]
        if turn := _turn([kind for kind in kinds if kind in STEPS]):
            turns[role[1]] = turn
    return turns


def _turn(kinds: Sequence[str]) -> tuple[str, ...]:
    """What ``kinds`` repeat in their middle, where no loop begins or ends; else what is most often between two ends."""
    quarter = len(kinds) // 4
    middle = kinds[quarter : len(kinds) - quarter]
    for length in range(1, min(_MOST, len(middle) // 2) + 1):
        if all(here == later for here, later in zip(middle, middle[length:], strict=False)):
            return tuple(middle[:length])
    last = "compute" if "compute" in kinds else kinds[-1] if kinds else ""
    ends = [place for place, kind in enumerate(kinds) if kind == last]
    between = Counter(tuple(kinds[begin + 1 : end + 1]) for begin, end in zip([-1, *ends], ends, strict=False))
    return max(between, key=lambda turn: between[turn], default=())
