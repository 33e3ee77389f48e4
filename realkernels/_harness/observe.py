"""Launches of an instrumented kernel, what they write to, and of them one that shows what usually happens on an SM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from gpusim.timeline import Timeline
from realkernels._harness.probe import HEAD, LANE, LANES_PER_CTA, STAMP, Recording
from realkernels._harness.timing import sample_clock

__all__ = ["Buffers", "Observed", "observe"]

LAUNCHES = 5
"""At least."""
MOST_LAUNCHES = 15
CLOSE = 0.01
"""Of the median: a launch in which the CTAs of the observed SM took that long is as good as any."""


NO_SM = -1


def capacity(tiles: int) -> int:
    """Stamps to provide for a lane of ``tiles`` tiles: six each at most, its ends, and what is written at once."""
    return 7 * tiles + 48


class Buffers:
    """What an instrumented kernel of ``ctas`` CTAs writes to, on the device; needs CuPy."""

    def __init__(self, ctas: int, tiles: int) -> None:
        """``tiles``: of a CTA that are to find room."""
        import cupy

        self._capacity = capacity(tiles)
        self._lanes = cupy.zeros(ctas * LANES_PER_CTA * LANE.itemsize, dtype=cupy.uint8)
        self._stamps = cupy.zeros(ctas * LANES_PER_CTA * self._capacity * STAMP.itemsize, dtype=cupy.uint8)
        self._sms: tuple[int, ...] = ()

    def arguments(self, sms: Sequence[int] = ()) -> tuple:
        """What comes behind the kernel's own arguments if the CTAs on ``sms``, at most two, write their stamps."""
        self._sms = tuple(sms)
        one, other = (*sms, NO_SM, NO_SM)[:2]
        return self._lanes, self._stamps, np.int32(self._capacity), np.int32(one), np.int32(other)

    def read(self, clock_hz: float) -> Recording:
        """What the last launch wrote: stamps of observed SMs, ends of all warps. ``clock_hz``: as of `Recording`."""
        lanes = self._lanes.get()
        ctas = np.flatnonzero(np.isin(lanes.view(LANE).reshape(-1, LANES_PER_CTA)["sm"][:, HEAD], self._sms))
        # Few CTAs write, and what all could have written is large.
        stamps = self._stamps.reshape(-1, LANES_PER_CTA * self._capacity * STAMP.itemsize)[ctas]
        return Recording(lanes, stamps.get().reshape(-1), self._capacity, clock_hz, self._sms, ctas)


@dataclass(frozen=True)
class Observed:
    """Launches of which each shows what happened on the observed SMs, and over all what stamps cost.

    ``overhead``: by what part of its time the kernel takes longer with stamps, in which it takes ``total_s``.
    """

    launches: tuple[Recording, ...]
    overhead: float
    total_s: float

    @property
    def recording(self) -> Recording:
        """The launch to show."""
        return self.launches[-1]

    def timeline(self, **what: Any) -> Timeline:
        """`Recording.timeline` of the launch to show, with the median hidden fraction of all launches.

        CTAs that share an SM drift to other phases in each launch, so that one says little of how much they overlap.
        """
        timelines = [each.timeline(**what) for each in self.launches]
        known = sorted(each.meta["hidden_fraction"] for each in timelines if "hidden_fraction" in each.meta)
        hidden = {"hidden_fraction": median(known), "hidden_range": [known[0], known[-1]]} if known else {}
        return timelines[-1].with_meta(**hidden)


def observe(launch: Callable[[tuple], float], buffers: Buffers, plain_s: float) -> Observed:
    """Find a typical SM, and record it and the one that ends last.

    ``launch`` runs the instrumented kernel once with these last arguments and returns seconds; its L2 should be cold.
    ``plain_s`` is what the kernel takes without stamps. A launch of which an observer gave up does not count, unless
    they all do.
    """

    def launched(sms: tuple[int, ...]) -> tuple[float, Recording]:
        seconds = launch(buffers.arguments(sms))
        return seconds, buffers.read(sample_clock())

    sms = tuple(launched(())[1].sms()[:2])
    totals, launches, lengths = [], [], []
    for number in range(MOST_LAUNCHES):
        seconds, seen = launched(sms)
        if seen.gave_up and (launches or number < MOST_LAUNCHES - 1):
            continue
        totals.append(seconds)
        launches.append(seen)
        lengths.append(seen.cta_s(sms[0]))
        if number >= LAUNCHES and abs(lengths[-1] - median(lengths)) <= CLOSE * lengths[-1]:
            break
    total_s = median(totals)
    return Observed(tuple(launches), total_s / plain_s - 1.0, total_s)
