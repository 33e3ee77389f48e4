"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, exp, log

from realkernels._harness.design import BYTES_PER_S, ISSUE_PER_S, LAUNCH_S, Design
from realkernels._parts.hopper import SMS
from realkernels.register_split import TECHNIQUE, Params, model

MEMBERS = (("uniform", 24), ("split", 24), ("split", 40))
"""(mode, producer registers) of the members of a group."""
SHAPES = (
    (8, 2, 64), (8, 2, 80), (8, 2, 96), (4, 2, 96), (4, 2, 128), (4, 2, 160), (8, 1, 160), (12, 1, 144), (4, 3, 96),
    (12, 2, 48), (12, 2, 112),
)  # fmt: skip
"""(consumer warps, CTAs per SM, accumulators): too few to matter, saved by the split, too many for either."""


class RegisterSplitDesign(Design):
    """Sums that fit, that the split saves and that are far too many."""

    def estimate_s(self, params: Params) -> float:
        """Roughly how long a run takes, in seconds."""
        moved = self.moved_bytes(params)
        mix = model.consumer_mix(params, 1)
        busy = min(1.0, params.grid / (SMS * params.ctas_per_sm))
        # What passes the pipe of shared memory, which all four schedulers have in common, or what is issued.
        slots = max(4.0 * (4.0 * mix.lds + mix.sts), mix.issue_slots + 8.0)
        waves = params.grid / (SMS * params.ctas_per_sm)
        tail = ceil(waves) / waves if waves > 1.0 else 1.0
        return LAUNCH_S + tail * max(moved / BYTES_PER_S, moved / 512 * slots / (ISSUE_PER_S * busy))

    def candidate(self, u: Sequence[float], largest: int) -> Params:
        """The configuration at ``u`` of the unit cube. Raises ValueError for what cannot be."""
        ctas = 1 + int(4 * u[3])
        kept = int(6 * ((3 * u[0] + u[7]) % 1.0))  # the last base alone is too coarse for so few points
        values = {
            "mode": "uniform" if kept < 3 else "split",
            "producer_registers": 24 if kept < 3 else (24, 32, 40)[kept - 3],
            "accumulators": 16 * (1 + int(10 * u[4])),
            "tile_bytes": round(exp(log(2048) + u[0] * (log(largest) - log(2048))) / 16) * 16,
            "stages": 1 + int(6 * u[5]),
            "fma_per_element": max(round(exp(u[1] * log(129)) - 1) - 1, 0),
            "consumer_warps": 4 * (1 + int(4 * u[2])),
            "ctas_per_sm": ctas,
            "grid": (SMS * ctas, 264, 2 * SMS * ctas, 100)[int(40 * u[4]) % 4],
            "tiles_per_cta": 1,
        }
        one_tile = self.estimate_s(Params(**values)) - LAUNCH_S
        target = exp(log(60e-6) + u[6] * (log(3e-3) - log(60e-6)))
        return Params(**values | {"tiles_per_cta": max(4, round((target - LAUNCH_S) / one_tile))})

    def groups(self) -> list[list[Params]]:
        """Groups that differ in who has the registers alone."""
        found = []
        for warps, ctas, accumulators in SHAPES:
            shape = {"consumer_warps": warps, "ctas_per_sm": ctas, "accumulators": accumulators}
            members = [
                Params(mode, producer_registers=kept, grid=SMS * ctas, tiles_per_cta=200, **shape)
                for mode, kept in MEMBERS
            ]
            found.append([params for params in members if self.is_measurable(params)])
        return found

    def timelines(self) -> list[Params]:
        """One wave of each: pairs with and without the split, at most 64 tiles per CTA."""
        found = []
        for index, (warps, ctas, accumulators) in enumerate(SHAPES[1::2]):
            for mode in ("uniform", "split"):
                params = Params(
                    mode, accumulators, consumer_warps=warps, ctas_per_sm=ctas, fma_per_element=(0, 8)[index % 2],
                    tile_bytes=8192 + 4096 * (index % 3), grid=SMS * ctas, tiles_per_cta=24 + 8 * index,
                )  # fmt: skip
                if self.fits(params):
                    found.append(params)
        return found


DESIGN = RegisterSplitDesign(TECHNIQUE, spread=48, traced=6)
