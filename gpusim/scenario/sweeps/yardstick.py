"""By what the points of a sweep are ranked: time alone, or where they do different amounts of work, time per work.

Twice the tiles take longer and are not worse for it. What a point reads is no work of its own where all have the same
arithmetic and the same results: a larger tile of a product reads less because it is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Work", "Yardstick", "alike", "not_the_same", "yardstick_of"]

Work = Mapping[str, float]
_TOLERANCE = 0.1
"""Relative difference up to which two amounts are the same: of points instructions around a loop and sums at the end,
of traces a warm-up among many launches and a few bytes of parameters."""
_FLOP = ("flop", "flop of tensor cores")
_COPIES = ("h2d", "d2h", "d2d", "p2p", "memset")
_TIMES = ("seconds of blocks", "seconds of the host")


@dataclass(frozen=True)
class Yardstick:
    """``per``: the unit of work that a time is divided by, "" for none. ``differ``: in what points do."""

    per: Literal["", "FLOP", "byte"] = ""
    differ: str = ""

    def cost_s(self, total_s: float, work: Work) -> float:
        """Seconds, or seconds per unit of work."""
        return total_s / _amount(work, self.per) if self.per else total_s

    def place(self, total_s: float, work: Work) -> float:
        """What points are sorted by: costs that agree to nine digits are a tie, what differs beyond is rounding."""
        return float(f"{self.cost_s(total_s, work):.9g}")


def not_the_same(amounts: str) -> str:
    """How it is told, wherever work is compared, that so named ``amounts`` of it are unlike."""
    return f"not the same work: {amounts} differ"


def yardstick_of(works: Iterable[Work]) -> Yardstick:
    """What points that do so much work each are compared by."""
    all_of_them = list(works)
    if not all_of_them:
        return Yardstick()
    flop, moved = ([_amount(work, unit) for work in all_of_them] for unit in ("FLOP", "byte"))
    times = [[work.get(name, 0.0) for work in all_of_them] for name in _TIMES]
    results = [_results(work) for work in all_of_them]
    if not alike(flop):
        return Yardstick("FLOP" if all(flop) else "", "FLOPs")
    if not all(map(alike, times)):
        return Yardstick("", "seconds of kernels or of the host that the file states")
    if alike(moved) or (min(flop) > 0.0 and min(results) > 0.0 and alike(results)):
        return Yardstick()
    return Yardstick("byte" if all(moved) else "", "bytes")


def _amount(work: Work, unit: str) -> float:
    names = _FLOP if unit == "FLOP" else ("bytes moved", *_COPIES)
    return sum(work.get(name, 0.0) for name in names)


def _results(work: Work) -> float:
    """Bytes that are written, or copied to somewhere."""
    of_kernels = work["bytes moved"] - work["bytes read"] if "bytes read" in work else work.get("bytes written", 0.0)
    return of_kernels + sum(work.get(name, 0.0) for name in _COPIES)


def alike(amounts: Sequence[float]) -> bool:
    """Whether ``amounts``, at least one and none negative, differ by no more than is taken for the same."""
    return max(amounts) - min(amounts) <= _TOLERANCE * max(amounts)
