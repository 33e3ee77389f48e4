"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from gpusim.program import WARP_SIZE
from realkernels._harness.design import Design
from realkernels._parts.hopper import SMS, WARPS_PER_SM
from realkernels.conv1d_async import HALOS, MOST_OUTPUTS, TECHNIQUE, Params

TRAFFIC_PER_S = 3.9e12
CTA_S = 1.7e-6
LOADS_PER_S = SMS * 1.9e9
"""Only to choose sizes with; no prediction uses these."""
LARGEST_FLOATS = 1 << 28
VECTORS = (4, 8, 16)

CLASSIC = Params()
LARGE = Params(floats=1 << 25, tile=2048, kernel_points=9, vector=16)


class ConvolutionDesign(Design):
    """Signals from one that is over before the launch is to one of many waves."""

    def moved_bytes(self, params: Params) -> int:
        """Bytes read and written."""
        return 8 * params.floats

    def estimate_s(self, params: Params) -> float:
        """Roughly how long a run takes, in seconds: memory, CTA after CTA, or loads from shared memory."""
        waves = params.grid / (SMS * params.ctas_per_sm)
        loads = params.floats / WARP_SIZE * params.kernel_points
        return 4e-6 + max(self.moved_bytes(params) / TRAFFIC_PER_S, waves * CTA_S, loads / LOADS_PER_S)

    def candidate(self, u: Sequence[float], largest: int) -> Params:  # noqa: ARG002 - tiles are not sized in bytes
        """The configuration at ``u`` of the unit cube, sized by its run time. Raises ValueError if there is none."""
        warps = (1, 2, 3, 4, 6, 8, 8, 12, 16)[int(9 * u[0])]
        outputs = round(exp(u[1] * log(MOST_OUTPUTS)))
        kind = int(12 * u[4])
        ctas = min(1 + int(WARPS_PER_SM // warps * u[3]), 32)
        one = Params(
            floats=WARP_SIZE * warps * outputs,
            tile=WARP_SIZE * warps * outputs,
            kernel_points=3 + 2 * int(15 * u[2]),
            halo=HALOS[kind % 2],
            vector=VECTORS[kind // 2 % 3],
            asynchronous=kind < 6,
            warps=warps,
            ctas_per_sm=ctas,
        )
        target = exp(log(35e-6) + u[5] * (log(1e-3) - log(35e-6)))
        wave = replace(one, floats=one.tile * SMS * ctas)
        tiles = round(wave.grid * (target - 4e-6) / (self.estimate_s(wave) - 4e-6))
        return replace(one, floats=min(tiles, LARGEST_FLOATS // one.tile) * one.tile)

    def groups(self) -> list[list[Params]]:
        """The classic case as it grows beyond the launch, and each question a scenario asks, asynchronous or not."""
        both = (False, True)
        return [
            [replace(CLASSIC, floats=1 << power, asynchronous=a) for power in (14, 16, 18, 20) for a in both],
            [replace(CLASSIC, floats=1 << 26, asynchronous=a, halo=halo) for halo in HALOS for a in both],
            [replace(LARGE, floats=1 << 26, kernel_points=5, asynchronous=a) for a in both],
            [replace(LARGE, floats=1 << 26, halo=halo) for halo in HALOS],
            [replace(LARGE, tile=tile, asynchronous=a) for tile in (256, 512, 1024, 4096) for a in both],
            [replace(LARGE, vector=vector, asynchronous=a) for vector in VECTORS for a in both],
            [replace(LARGE, ctas_per_sm=ctas, asynchronous=a) for ctas in (1, 2, 4) for a in both],
            [replace(LARGE, kernel_points=points, ctas_per_sm=4) for points in (3, 15, 31)],
        ]

    def timelines(self) -> list[Params]:
        """The classic case and one wave of larger tiles; with room for the observer warp."""
        few = replace(LARGE, floats=2048 * 3 * SMS, ctas_per_sm=3)
        return [
            replace(CLASSIC, ctas_per_sm=3),
            replace(CLASSIC, ctas_per_sm=3, asynchronous=False),
            few,
            replace(few, asynchronous=False),
            replace(few, halo="true", floats=2 * few.floats),
            replace(few, kernel_points=31, ctas_per_sm=2, floats=2048 * 2 * SMS),
        ]


DESIGN = ConvolutionDesign(TECHNIQUE, spread=44, traced=6)
