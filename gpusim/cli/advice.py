"""Advice for people: where the scenario stands, the levers that gain most, and what to do."""

from __future__ import annotations

from gpusim.cli.output import console, print_table, seconds, signed
from gpusim.scenario import Advice

__all__ = ["print_advice"]

SHOWN = 3


def print_advice(advice: Advice) -> None:
    """The three levers that gain most, what cannot be (why is in ``--json``), and the verdict with its options."""
    out = console()
    place = advice.roofline
    if place is not None:
        out.print(
            f"roofline: {place.regime}, {place.bandwidth_share:.0%} of the memory bandwidth, "
            f"{place.flop_share:.0%} of {place.arithmetic}",
        )
    rows = [(signed(-lever.gain), seconds(lever.total_s), lever.change) for lever in advice.levers[:SHOWN]]
    if rows:
        print_table("the same work, predicted with", ("time", "total", "change"), rows)
    if advice.refused:
        out.print(f"cannot be: {'; '.join(refused.change for refused in advice.refused)}")
    out.print(f"advice: {advice.verdict}", soft_wrap=True)
    if advice.best is not None:
        out.print(f"try it: {advice.best.arguments}", soft_wrap=True)
