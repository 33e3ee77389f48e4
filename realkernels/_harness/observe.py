"""Launches of an instrumented kernel, and of them one that shows what usually happens on an SM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from gpusim.timeline import Timeline
from realkernels._harness.probe import Buffers, Recording
from realkernels._harness.timing import sample_clock

__all__ = ["Observed", "observe"]

LAUNCHES = 5
"""At least."""
MOST_LAUNCHES = 15
CLOSE = 0.01
"""Of the median: a launch in which the CTAs of the observed SM took that long is as good as any."""


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
