"""Launches of an instrumented kernel, and of them one that shows what usually happens on an SM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from realkernels._harness.probe import Buffers, Recording
from realkernels._harness.timing import sample_clock

__all__ = ["Observed", "observe"]

LAUNCHES = 5
"""Without stamps, and at least so many with them."""
MOST_LAUNCHES = 15
CLOSE = 0.01
"""Of the median: a launch in which the CTAs of the observed SM took that long is as good as any."""


@dataclass(frozen=True)
class Observed:
    """The launch to show, and over all of them what stamps cost.

    ``overhead``: the part of its time by which a CTA of the observed SM took longer than without stamps. No others take
    any, so the device as a whole, which took ``total_s``, says little about it.
    """

    recording: Recording
    overhead: float
    total_s: float


def observe(launch: Callable[[tuple], float], buffers: Buffers) -> Observed:
    """Find a typical SM, and record it and the one that ends last.

    ``launch`` runs the kernel once with these last arguments and returns seconds; its L2 should be cold.
    """

    def launched(sms: tuple[int, ...]) -> tuple[float, Recording]:
        seconds = launch(buffers.arguments(sms))
        return seconds, buffers.read(sample_clock(), stamps=False)

    quiet = [launched(())[1] for _ in range(LAUNCHES)]
    sms = tuple(quiet[0].sms()[:2])
    plain_s = median(seen.cta_s(sms[0]) for seen in quiet)
    totals, lengths = [], []
    for number in range(MOST_LAUNCHES):
        seconds, seen = launched(sms)
        totals.append(seconds)
        lengths.append(seen.cta_s(sms[0]))
        if number >= LAUNCHES and abs(lengths[-1] - median(lengths)) <= CLOSE * lengths[-1]:
            break
    return Observed(buffers.read(seen.clock_hz), median(lengths) / plain_s - 1.0, median(totals))
