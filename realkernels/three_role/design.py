"""Which configurations to measure, where `realkernels._harness.design` does not know it."""

from __future__ import annotations

from typing import Any

from gpusim.scenario.technique import Technique
from realkernels._harness import design
from realkernels.three_role import Params

POINTS = 56
STAGES = ((1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (2, 3), (3, 3), (4, 4))
"""(input, output) stages of the members of a group."""


def estimate_s(params: Params) -> float:
    """Roughly how long a run takes: every byte read is written as well."""
    return design.estimate_s(params, traffic=2.0)


def groups(technique: Technique, count: int) -> list[list[Any]]:
    """Groups that differ in the stages of the two rings alone, at least five of `STAGES`."""
    found: list[list[Any]] = []
    for params in design.candidates(technique, skip=5000, largest=24 * 1024):
        members = [Params(**vars(params) | {"input_stages": i, "output_stages": o}) for i, o in STAGES]
        members = [member for member in members if design.is_measurable(technique, member)]
        if len(members) >= 5:
            found.append(members)
        if len(found) == count:
            return found
    raise AssertionError("unreachable: the sequence has no end")
