"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from realkernels._harness.design import BYTES_PER_S, LAUNCH_S, Design
from realkernels._parts.hopper import SMS, WARPS_PER_SM
from realkernels.occupancy_sweep import LIMITERS, TECHNIQUE, Params

CURVE = (
    *((4, ctas) for ctas in (1, 2, 3, 4, 6, 8, 12, 16)),
    *((warps, WARPS_PER_SM // warps) for warps in (12, 20, 24, 28)),
)
"""(warps, CTAs per SM) of the members of a group."""
LATENCY_S = 0.9e-6
"""Only to choose sizes with; no prediction uses it."""


class OccupancyDesign(Design):
    """Everything that keeps warps away, with each number of loads in flight."""

    def estimate_s(self, params: Params) -> float:
        """Roughly how long a run takes, in seconds."""
        in_flight = SMS * params.ctas_per_sm * params.tile_bytes
        return LAUNCH_S + self.moved_bytes(params) / min(BYTES_PER_S, in_flight / LATENCY_S)

    def candidate(self, u: Sequence[float], largest: int) -> Params:  # noqa: ARG002 - tiles are not sized in bytes
        """The configuration at ``u`` of the unit cube. Raises ValueError where the limiter cannot do that."""
        limiter, warps = LIMITERS[int(3 * u[0])], 4 * (1 + int(8 * u[1]))
        most = WARPS_PER_SM // warps
        ctas = most if limiter == "block" else 1 + int(most * u[2])
        return self.sized(limiter, warps, ctas, 1 + int(4 * u[3]), exp(log(60e-6) + u[4] * (log(1.2e-3) - log(60e-6))))

    def sized(self, limiter: str, warps: int, ctas: int, loads: int, target_s: float) -> Params:
        """One wave of CTAs whose loop runs about ``target_s``."""
        one = Params(limiter, warps, ctas, loads, SMS * ctas, 1)
        turns = round((target_s - LAUNCH_S) / (self.estimate_s(one) - LAUNCH_S))
        return Params(limiter, warps, ctas, loads, one.grid, max(turns, 4))

    def groups(self) -> list[list[Params]]:
        """Whole curves over the resident warps, each limiter, with one and with four loads in flight."""
        found = []
        for limiter in LIMITERS:
            for loads in (1, 4):
                curve = []
                for warps, ctas in CURVE:
                    try:
                        params = self.sized(limiter, warps, ctas, loads, 300e-6)
                    except ValueError:
                        continue
                    if self.is_measurable(params):
                        curve.append(params)
                found.append(curve)
        return found

    def timelines(self) -> list[Params]:
        """None: there is no pipeline to see."""
        return []


DESIGN = OccupancyDesign(TECHNIQUE, spread=48, traced=0)
