"""Numbers of a ``compute`` that contradict each other: each of them counts some of what another one counts."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.scenario.kernel.compute_schema import ComputeMix
from gpusim.scenario.problem import Problem

__all__ = ["compute_problems"]

_ROUNDED = 0.99
"""Means over loops are rounded where they are written down."""


def compute_problems(spec: ComputeMix, path: tuple) -> Iterator[Problem]:
    """What is wrong with the counts of ``spec``."""
    around = spec.other + spec.setup + spec.interleaved
    if spec.ldc > around:
        yield Problem(
            (*path, "ldc"), f"{spec.ldc:g} of {around:g} instructions load a constant",
            f"at most {around:g}, those of other, setup and interleaved that do",
        )  # fmt: skip
    # IMAD.HI and IMAD.WIDE count twice.
    if spec.half_rate > 2.0 * around:
        yield Problem(
            (*path, "half_rate"), f"{spec.half_rate:g} of {around:g} instructions are of half rate",
            f"at most {around:g}, those of other, setup and interleaved that are; twice as many if all are IMAD.WIDE",
        )  # fmt: skip
    if spec.loads_in_flight > max(spec.lds, 1.0):
        yield Problem(
            (*path, "loads_in_flight"), f"{spec.loads_in_flight:g} of {spec.lds:g} loads (lds) are under way at a time",
            f"at most {max(spec.lds, 1.0):g}",
        )  # fmt: skip
    issued = around + spec.ffma + spec.mma + spec.mufu + spec.lds + spec.sts
    if spec.alone and spec.alone < issued * _ROUNDED:
        yield Problem(
            (*path, "alone"), f"{spec.alone:g} cycles for {issued:g} instructions, of which a warp issues one a cycle",
            f"at least {issued:g}, or leave it out",
        )  # fmt: skip
