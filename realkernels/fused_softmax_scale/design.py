"""Which configurations to measure: pairs of both variants, over sizes, rows and CTAs."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

from realkernels._harness.host_design import HostDesign
from realkernels._harness.spread import halton
from realkernels._parts.hopper import SMS
from realkernels.fused_softmax_scale import FLOATS_PER_WARP, VARIANTS, WARPS_PER_SM, Params

MIB = 1 << 20
SMALLEST, LARGEST = 4 * MIB, 1024 * MIB
PAIRS = 24
"""Spread over all parameters; besides, one shape in every size."""
SIZES = tuple(MIB << shift for shift in range(2, 11))


def totals() -> list[Params]:
    """Fused and separate of the same arrays, next to each other."""
    chosen = [sized(Params(), size) for size in SIZES] + [_spread(index) for index in range(1, PAIRS + 1)]
    return list(dict.fromkeys(replace(params, variant=variant) for params in chosen for variant in VARIANTS))


def traced() -> list[Params]:
    """An array that L2 holds and one that it does not, both ways."""
    return [replace(sized(Params(), size), variant=variant) for size in (8 * MIB, 256 * MIB) for variant in VARIANTS]


def sized(params: Params, size: int, one_row: bool = False) -> Params:
    """Arrays of about ``size`` bytes: a grid that stays, or with ``one_row`` a CTA for each row."""
    rows = max(round(size / params.row_bytes), 1)
    grid = rows if one_row else SMS * params.ctas_per_sm
    return replace(params, grid=grid, rows_per_cta=max(round(rows / grid), 1))


def _spread(index: int) -> Params:
    """The configuration number ``index`` of the Halton sequence."""
    a, b, c, d, e = (halton(index, base) for base in (2, 3, 5, 7, 11))
    warps, vectors = (2, 4, 8, 16)[int(4 * b)], 1 + int(8 * c)
    row = min(max(FLOATS_PER_WARP * warps * vectors, 256), 8192)
    vectors = row // (FLOATS_PER_WARP * warps)
    most = min(WARPS_PER_SM[vectors - 1] // warps, 16)
    params = Params("fused", row, warps, 1 + int(most * d))
    return sized(params, exp(log(SMALLEST) + a * (log(LARGEST) - log(SMALLEST))), one_row=e < 0.4)


DESIGN = HostDesign(totals=totals, traced=tuple(traced()))
