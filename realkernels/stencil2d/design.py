"""Which configurations to measure, where `realkernels._harness.design` does not know it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from typing import Any

from gpusim.scenario.technique import Technique
from realkernels._harness import design
from realkernels._parts.hopper import SMS
from realkernels.stencil2d import MOST_VECTORS, VECTOR_FLOATS, Params

POINTS = 48
TIMELINES = 8
TRAFFIC_PER_S = 3.8e12
LATENCY_S = 1.2e-6
"""Only to choose sizes with; no prediction uses these."""
START_S = 6e-6
SHORTEST_S, LONGEST_S = 45e-6, 1.5e-3

TWO_PER_SM = Params(tiles_per_cta=128)
ONE_PER_SM = Params(ctas_per_sm=1, grid=SMS, tiles_per_cta=192)


def moved_bytes(params: Params) -> int:
    """Bytes read, those of rows between two bands twice."""
    return 4 * params.width * (params.height + 2 * params.radius * (params.grid // params.strips))


def estimate_s(params: Params) -> float:
    """Roughly how long a run takes, in seconds: memory, arithmetic, or the latency of a row over the stages."""
    resident = SMS * params.ctas_per_sm
    waves = -(-params.grid // resident)
    instructions = params.width * params.height / VECTOR_FLOATS * (16 * params.radius + 4 * params.fma_per_element + 50)
    busy = params.grid / (waves * resident)
    row_s = LATENCY_S / params.stages + 0.3e-6
    return START_S + max(
        2 * moved_bytes(params) / TRAFFIC_PER_S,
        instructions / (design.ISSUE_PER_S * busy),
        waves * params.tiles_per_cta * row_s,
    )


def candidate(technique: Technique, u: Sequence[float], largest: int) -> Params:  # noqa: ARG001 - one kind of parameters
    """The configuration at ``u`` of the unit cube, sized by its run time. Raises ValueError if there is none."""
    warps = (1, 2, 3, 4, 6, 8, 8, 12, 16)[int(9 * u[2])]
    ctas = (1, 1, 2, 2, 3, 4, 6, 8)[int(8 * u[3])]
    strips, grid = (
        (12, SMS * ctas),
        (33, SMS * ctas),
        (4, SMS * ctas),
        (6, 2 * SMS * ctas),
        (66, 3 * SMS * ctas),
        (10, 100),
    )[int(6 * u[5])]
    one = Params(
        tile_width=VECTOR_FLOATS * warps * (1 + int(MOST_VECTORS * u[6])),
        radius=1 + int(4 * u[1]),
        stages=1 + int(8 * u[0]),
        fma_per_element=round(exp(u[4] * log(129))) - 1,
        warps=warps,
        ctas_per_sm=ctas,
        strips=strips,
        grid=grid,
        tiles_per_cta=64,
    )
    if one.tile_bytes > largest:
        raise ValueError(f"a row of {one.tile_bytes} bytes is longer than {largest}")
    target = exp(log(SHORTEST_S) + u[7] * (log(LONGEST_S) - log(SHORTEST_S)))
    rows = round(one.tiles_per_cta * (target - START_S) / (estimate_s(one) - START_S))
    return replace(one, tiles_per_cta=max(rows, 16))


def groups(technique: Technique, count: int) -> list[list[Any]]:
    """Groups of configurations that differ in their stages alone; those of the scenarios come first."""
    few = (1, 2, 3, 4, 6, 8)
    bases = [
        (TWO_PER_SM, few),
        (ONE_PER_SM, few),
        (replace(ONE_PER_SM, radius=4, fma_per_element=16), few),
        (replace(TWO_PER_SM, radius=4, fma_per_element=64), few),
        (replace(TWO_PER_SM, tile_width=256, warps=2, ctas_per_sm=8, strips=48, grid=8 * SMS), few),
        *((replace(ONE_PER_SM, fma_per_element=fma), (1, 4)) for fma in (8, 32, 128)),
        *((replace(TWO_PER_SM, radius=radius), (1, 4)) for radius in (2, 3)),
    ]
    found = [[replace(base, stages=number) for number in stages] for base, stages in bases]
    return [[member for member in group if design.is_measurable(technique, member)] for group in found[:count]]


def timelines(technique: Technique, count: int) -> list[Any]:
    """One wave, few rows, room for the observer warp."""
    short = {"tiles_per_cta": 48}
    chosen = [replace(ONE_PER_SM, stages=stages, **short) for stages in (1, 2, 4, 8)]
    chosen += [
        replace(TWO_PER_SM, **short),
        replace(ONE_PER_SM, radius=4, fma_per_element=16, **short),
        replace(TWO_PER_SM, radius=2, stages=2, fma_per_element=32, **short),
        replace(TWO_PER_SM, tile_width=256, warps=2, ctas_per_sm=8, strips=48, grid=8 * SMS, **short),
    ]
    return [params for params in chosen if design.fits(technique, params, observer=True)][:count]
