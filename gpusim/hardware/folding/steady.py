"""Whether steps that follow each other have become steady, and how long each takes then."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

__all__ = ["repeating", "steady_state"]

_MOST_STRIDES = 16
"""Strides in a turn at most."""
_FEWEST_SEEN = 4
"""Turns, each one step later than the one before, of which all have to take the same."""


def steady_state(done_s: Sequence[float], stride: int, drain: int, agreement: float) -> tuple[float, int] | None:
    """Period per step, and the steps it was taken from up to the last before the drain; None if it is not reached.

    ``done_s``: completion time of step 0, 1, 2 …; the last ``drain`` steps are ignored,
    because the end of the work is already felt there.
    """
    last = len(done_s) - 1 - drain
    found = repeating(done_s, stride, last, agreement)
    if found is not None:
        period, turn = found
        return period, max(last // 3 // turn, 1) * turn
    half = (last // 3) // stride * stride
    if half < stride or last - 2 * half < 1:
        return None
    early = (done_s[last - half] - done_s[last - 2 * half]) / half
    late = (done_s[last] - done_s[last - half]) / half
    if late > 0.0 and abs(late - early) <= agreement * late:
        return (done_s[last] - done_s[last - 2 * half]) / (2 * half), half
    # Perhaps it was reached within the window: then all quarters of a window half as long agree.
    part = max(last // 8 // stride, 1) * stride
    if last - 4 * part < 1:
        return None
    ends = [done_s[last - quarters * part] for quarters in range(5)]
    periods = [(later - sooner) / part for later, sooner in pairwise(ends)]
    if periods[0] <= 0.0 or max(periods) - min(periods) > agreement * periods[0]:
        return None
    return (periods[0] + periods[1]) / 2.0, half


def repeating(done_s: Sequence[float], stride: int, last: int, agreement: float) -> tuple[float, int] | None:
    """Period per step, and the fewest steps, whole strides, that take the same wherever they begin; None without any.

    The second half of ``done_s``, up to step ``last``, has to be such turns. CTAs that share an SM take turns with each
    other, so that several strides may make one.
    """
    for steps in range(stride, min(last // 2, _MOST_STRIDES * stride + 1), stride):
        seen = max(steps, last // 2, _FEWEST_SEEN)
        if seen + steps > last:
            return None
        took = done_s[last] - done_s[last - steps]
        if abs(took - (done_s[last - 1] - done_s[last - 1 - steps])) > agreement * took:
            continue
        all_took = [done_s[at] - done_s[at - steps] for at in range(last, last - seen, -1)]
        if max(all_took) - min(all_took) <= agreement * took:
            return fmean(all_took) / steps, steps
    return None
