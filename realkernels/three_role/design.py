"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels._harness.design import GROUPED_TILE, TO_COMPARE, Design
from realkernels.three_role import TECHNIQUE, Params

STAGES = ((1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (2, 3), (3, 3), (4, 4))
"""(input, output) stages of the members of a group."""


class ThreeRoleDesign(Design):
    """Tile pipelines with two rings, that write as much as they read."""

    def groups(self) -> Iterator[list[Params]]:
        """Groups that differ in the stages of the two rings alone, at least five of `STAGES`."""
        for params in self.candidates(skip=TO_COMPARE, largest=GROUPED_TILE):
            members = [Params(**vars(params) | {"input_stages": i, "output_stages": o}) for i, o in STAGES]
            members = [member for member in members if self.is_measurable(member)]
            if len(members) >= 5:
                yield members


DESIGN = ThreeRoleDesign(TECHNIQUE, spread=56, traffic=2.0)
