"""Which configurations to measure, where `realkernels._harness.design` does not know it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpusim.scenario.technique import Technique
from realkernels._harness.design import product
from realkernels.gemm import DEPTH, Params

POINTS = 48
TIMELINES = 6
FLOP_PER_S, BYTES_PER_S = 3.5e14, 5e12
"""Only to choose sizes with; no prediction uses these."""
LARGEST = 1 << 30
"""Bytes of an operand, or of the result."""

SQUARE = Params()


def moved_bytes(params: Params) -> int:
    """Bytes read, from wherever, and written."""
    return params.grid * (params.k_tiles * params.tile_bytes + 4 * params.tile_m * params.tile_n)


def estimate_s(params: Params) -> float:
    """Roughly how long a run takes, in seconds: products, or bytes from L2."""
    flop = 2 * params.grid * params.tile_m * params.tile_n * params.k_tiles * DEPTH
    return 5e-6 + max(flop / FLOP_PER_S, moved_bytes(params) / BYTES_PER_S)


def candidate(technique: Technique, u: Sequence[float], largest: int) -> Params:  # noqa: ARG001 - one kind of parameters
    """The configuration at ``u`` of the unit cube, sized by its run time. Raises ValueError if there is none."""
    one = Params(
        tile_n=(64, 128, 128, 192, 256, 256)[int(6 * u[0])],
        warpgroups=1 + int(3 * u[1]),
        stages=1 + int(8 * u[2]),
        pending=int(2 * u[3]),
        ctas_per_sm=1 + int(3 * u[4]),
        grid_m=1 + int(40 * u[6]),
        grid_n=1,
        k_tiles=1,
    )
    if one.pending and one.stages == 1:
        raise ValueError("the only stage would be released when the next one is there")
    return product(one, (u[5], u[7]), estimate_s, LARGEST)


def groups(technique: Technique, count: int) -> list[list[Any]]:  # noqa: ARG001 - one technique
    """Stages of square products, with and without products under way; sides of tiles; CTAs that share an SM."""
    found = [
        [replace(SQUARE, stages=stages) for stages in (2, 3, 4, 6)],
        [replace(SQUARE, stages=stages, pending=0) for stages in (1, 2, 3, 4, 6)],
        [replace(SQUARE, tile_n=256, grid_n=16, stages=stages) for stages in (2, 3, 4)],
        [replace(SQUARE, tile_n=64, grid_n=64, stages=stages, pending=0) for stages in (1, 2, 4, 8)],
        [replace(SQUARE, warpgroups=1, grid_m=64, ctas_per_sm=2, stages=stages) for stages in (2, 3, 4)],
    ]
    return found[:count]


def timelines(technique: Technique, count: int) -> list[Any]:  # noqa: ARG001 - one technique
    """One wave of CTAs: few stages and enough, one or two of them on an SM."""
    one = replace(SQUARE, grid_m=12, grid_n=11, k_tiles=48)
    chosen = [
        replace(one, stages=2),
        one,
        replace(one, stages=1, pending=0),
        replace(one, stages=4, pending=0),
        replace(one, tile_n=256),
        replace(one, warpgroups=1, grid_n=22, ctas_per_sm=2),
    ]
    return chosen[:count]
