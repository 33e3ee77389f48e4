"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from realkernels._harness.design import ISSUE_PER_S, Design
from realkernels._parts.hopper import SMS
from realkernels.stencil2d import MOST_VECTORS, TECHNIQUE, VECTOR_FLOATS, Params

TRAFFIC_PER_S = 3.8e12
LATENCY_S = 1.2e-6
"""Only to choose sizes with; no prediction uses these."""
START_S = 6e-6
SHORTEST_S, LONGEST_S = 45e-6, 1.5e-3

TWO_PER_SM = Params(tiles_per_cta=128)
ONE_PER_SM = Params(ctas_per_sm=1, grid=SMS, tiles_per_cta=192)


class StencilDesign(Design):
    """Strips of all widths and radii; sized by the rows that a CTA goes through."""

    def moved_bytes(self, params: Params) -> int:
        """Bytes read, those of rows between two bands twice."""
        return 4 * params.width * (params.height + 2 * params.radius * (params.grid // params.strips))

    def estimate_s(self, params: Params) -> float:
        """Roughly how long a run takes, in seconds: memory, arithmetic, or the latency of a row over the stages."""
        resident = SMS * params.ctas_per_sm
        waves = -(-params.grid // resident)
        each = 16 * params.radius + 4 * params.fma_per_element + 50
        instructions = params.width * params.height / VECTOR_FLOATS * each
        busy = params.grid / (waves * resident)
        row_s = LATENCY_S / params.stages + 0.3e-6
        return START_S + max(
            2 * self.moved_bytes(params) / TRAFFIC_PER_S,
            instructions / (ISSUE_PER_S * busy),
            waves * params.tiles_per_cta * row_s,
        )

    def candidate(self, u: Sequence[float], largest: int) -> Params:
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
        rows = round(one.tiles_per_cta * (target - START_S) / (self.estimate_s(one) - START_S))
        return replace(one, tiles_per_cta=max(rows, 16))

    def groups(self) -> list[list[Params]]:
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
        return [[member for member in group if self.is_measurable(member)] for group in found]

    def timelines(self) -> list[Params]:
        """One wave, few rows, room for the observer warp."""
        short = {"tiles_per_cta": 48}
        chosen = [replace(ONE_PER_SM, stages=stages, **short) for stages in (1, 2, 4, 8)]
        chosen += [
            replace(TWO_PER_SM, **short),
            replace(ONE_PER_SM, radius=4, fma_per_element=16, **short),
            replace(TWO_PER_SM, radius=2, stages=2, fma_per_element=32, **short),
            replace(TWO_PER_SM, tile_width=256, warps=2, ctas_per_sm=8, strips=48, grid=8 * SMS, **short),
        ]
        return [params for params in chosen if self.fits(params, observer=True)]


DESIGN = StencilDesign(TECHNIQUE, spread=48, traced=8)
