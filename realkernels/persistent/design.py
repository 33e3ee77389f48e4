"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, log

from realkernels._harness.design import BYTES_PER_S, ISSUE_PER_S, LAUNCH_S, TO_TRACE, Design
from realkernels._parts.hopper import SMS
from realkernels.persistent import MODES, TECHNIQUE, Params

LARGEST_ITEM = 64


class PersistentDesign(Design):
    """Items of all lengths, by a grid that stays and by one CTA each."""

    def moved_bytes(self, params: Params) -> int:
        """Bytes read."""
        return params.items * params.tiles_per_item * params.tile_bytes

    def estimate_s(self, params: Params) -> float:
        """Roughly how long a run takes, in seconds."""
        moved = self.moved_bytes(params)
        instructions = moved / 512 * (4 * params.fma_per_element + 12)
        return LAUNCH_S + max(moved / BYTES_PER_S, instructions / ISSUE_PER_S)

    def candidate(self, u: Sequence[float], largest: int) -> Params:
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
        items = round((target - LAUNCH_S) / (self.estimate_s(params) - LAUNCH_S))
        return Params(**vars(params) | {"items": min(max(items, SMS * ctas), 40_000)})

    def groups(self) -> list[list[Params]]:
        """Pairs that differ in the mode alone: the same tiles in short to long items, with and without a tail."""
        found = []
        for tiles_per_item in (1, 2, 4, 16, 64):
            for more in (0, 40):
                items = SMS * 2 * 64 // tiles_per_item + more
                pair = [Params(mode=mode, items=items, tiles_per_item=tiles_per_item) for mode in MODES]
                found.append([params for params in pair if self.is_measurable(params)])
        return found

    def timelines(self) -> Iterator[Params]:
        """A few items per CTA in both modes."""
        for params in self.candidates(skip=TO_TRACE, largest=32768):
            pair = [
                Params(**vars(params) | {"mode": mode, "tiles_per_item": 6, "items": params.resident * 4 + 30})
                for mode in MODES
            ]
            yield from (p for p in pair if self.fits(p, observer=True) and self.estimate_s(p) < 1e-3)


DESIGN = PersistentDesign(TECHNIQUE, spread=48, traced=6)
