"""Which configurations to measure, where `realkernels._harness.design` does not know it."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Any

from gpusim.scenario.technique import Technique
from realkernels._harness import design
from realkernels._parts.hopper import SMS
from realkernels.persistent import MODES, Params

POINTS = 48
TIMELINES = 6
LARGEST_ITEM = 64


def moved_bytes(params: Params) -> int:
    """Bytes read."""
    return params.items * params.tiles_per_item * params.tile_bytes


def estimate_s(params: Params) -> float:
    """Roughly how long a run takes, in seconds."""
    moved = moved_bytes(params)
    instructions = moved / 512 * (4 * params.fma_per_element + 12)
    return 5e-6 + max(moved / design.BYTES_PER_S, instructions / design.ISSUE_PER_S)


def candidate(technique: Technique, u: Sequence[float], largest: int) -> Params:  # noqa: ARG001 - one kind of parameters
    """The configuration at ``u`` of the unit cube; the number of items is set by the run time aimed at."""
    ctas = 1 + int(4 * u[3])
    params = Params(
        mode=MODES[int(2 * u[4])],
        items=1,
        tiles_per_item=round(exp(u[7] * log(LARGEST_ITEM))),
        tile_bytes=round(exp(log(2048) + u[0] * (log(largest) - log(2048))) / 16) * 16,
        stages=2 + int(4 * u[5]),
        fma_per_element=round(exp(u[1] * log(129)) - 1),
        warps=2 + int(15 * u[2]),
        ctas_per_sm=ctas,
        resident=SMS * ctas,
    )
    target = exp(log(45e-6) + u[6] * (log(1.5e-3) - log(45e-6)))
    items = round((target - 5e-6) / (estimate_s(params) - 5e-6))
    return Params(**vars(params) | {"items": min(max(items, SMS * ctas), 40_000)})


def groups(technique: Technique, count: int) -> list[list[Any]]:  # noqa: ARG001
    """Pairs that differ in the mode alone: the same tiles in short, middle and long items, with and without a tail."""
    found = []
    for tiles_per_item in (1, 2, 4, 16, 64):
        for more in (0, 40):
            items = SMS * 2 * 64 // tiles_per_item + more
            pair = [Params(mode=mode, items=items, tiles_per_item=tiles_per_item) for mode in MODES]
            found.append([params for params in pair if design.is_measurable(technique, params)])
    return found


def timelines(technique: Technique, count: int) -> list[Any]:
    """A few items per CTA in both modes."""
    found: list[Any] = []
    for params in design.candidates(technique, skip=9000, largest=32768):
        pair = [
            Params(**vars(params) | {"mode": mode, "tiles_per_item": 6, "items": params.resident * 4 + 30})
            for mode in MODES
        ]
        found += [p for p in pair if design.fits(technique, p, observer=True) and estimate_s(p) < 1e-3]
        if len(found) >= count:
            return found[:count]
    raise AssertionError("unreachable: the sequence has no end")
