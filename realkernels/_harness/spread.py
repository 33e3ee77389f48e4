"""Numbers that fill a range evenly, the same on every run: the Halton sequence, and places between two ends."""

from __future__ import annotations

from math import exp, log

__all__ = ["BASES", "between", "halton"]

BASES = (2, 3, 5, 7, 11, 13, 17, 19)
"""One for each coordinate of a point, so that any first part of the points fills the cube evenly."""


def halton(index: int, base: int) -> float:
    """Element ``index`` (from 1) of the van der Corput sequence in ``base``, in (0, 1)."""
    value, scale = 0.0, 1.0
    while index:
        scale /= base
        index, digit = divmod(index, base)
        value += digit * scale
    return value


def between(low: float, high: float, share: float) -> float:
    """``share`` of the way from ``low`` to ``high``, both positive, in equal ratios."""
    return exp(log(low) + share * (log(high) - log(low)))
