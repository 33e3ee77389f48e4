"""Which configurations of a kernel to measure: spread over the parameter space, the same on every run.

Configurations that do not fit are left out, as are runs so short that the launch hides them or so long that they cost
without telling more. `Design` is that of the tile pipelines; a technique whose parameters are others has a module
``design`` in its folder, whose ``DESIGN`` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import count, islice
from math import ceil, exp, log
from typing import TYPE_CHECKING, Any

from gpusim.program import WARP_SIZE
from gpusim.program.registers import allocated_registers
from gpusim.scenario.kinds import STAGES
from gpusim.scenario.technique import Kind, Technique
from realkernels._harness.spread import BASES, halton
from realkernels._parts.hopper import (
    REGISTERS_PER_SCHEDULER,
    RESERVED_PER_CTA,
    SCHEDULERS,
    SHARED_PER_SM,
    SMS,
    WARPS_PER_SM,
)

if TYPE_CHECKING:
    from realkernels._harness.host_design import HostDesign

__all__ = ["BYTES_PER_S", "GROUPED_TILE", "ISSUE_PER_S", "LAUNCH_S", "TO_COMPARE", "TO_TRACE", "Design", "design_of"]

GROUPS = 11
SMALLEST_TILE, LARGEST_TILE, GROUPED_TILE = 2048, 65536, 24 * 1024
"""Bytes; the last is the largest of configurations that differ in their stages, of which several have to fit."""
MIN_BYTES, MAX_BYTES = 8 << 20, 6 << 30
"""Bytes that a run moves."""
SHORTEST_S, LONGEST_S = 30e-6, 20e-3
"""Between which runs are measured."""
AIMED_S = 45e-6, 6e-3
"""Between which the run times of points are spread."""
LONGEST_TRACED_S = 2e-3
"""Of a run whose timeline is recorded."""
MOST_FMA, FEWEST_TILES = 256, 4
"""FMAs on each float, and tiles of a CTA."""
TO_COMPARE, TO_TRACE = 5000, 9000
"""Candidates before those that are compared, and those with timelines: far enough for others than the points."""

LAUNCH_S = 5e-6
"""What a run takes besides its tiles."""
BYTES_PER_S = 4.2e12
ISSUE_PER_S = SMS * SCHEDULERS * 1.9e9
"""Only to choose sizes with, as `LAUNCH_S`; no prediction uses these."""
_VECTOR_BYTES, _VECTOR_FLOATS, _OTHERS = 512, 4, 12
"""A warp takes so many bytes at once, so many floats in each lane, with so many instructions besides FMAs."""

_WARPS = (Kind.WARPS, Kind.CONSUMERS, Kind.COMPUTING)


@dataclass(frozen=True)
class Design:
    """The configurations of one technique: ``spread`` points over its parameters, groups to compare, and timelines.

    ``traced``: how many timelines; ``traffic``: bytes to and from memory per byte read. A subclass says what its
    technique's parameters mean by `candidate`, `moved_bytes`, `estimate_s`, `groups` and `timelines`.
    """

    technique: Technique
    spread: int = 96
    traced: int = 10
    traffic: float = 1.0

    def candidate(self, u: Sequence[float], largest: int) -> Any:
        """The configuration at ``u`` of the unit cube, with tiles of at most ``largest`` bytes, sized by its run time.

        Raises ValueError where there is none.
        """
        named, ctas = self.technique.named, 1 + int(4 * u[3])
        values = {
            "tile_bytes": round(exp(log(SMALLEST_TILE) + u[0] * (log(largest) - log(SMALLEST_TILE))) / 16) * 16,
            "fma_per_element": round(exp(u[1] * log(MOST_FMA + 1)) - 1),
            named(*_WARPS)[0]: 2 + int(15 * u[2]),
            "ctas_per_sm": ctas,
            "grid": (SMS * ctas, 264, 2 * SMS * ctas, SMS * ctas, 3 * SMS * ctas - 31, 100)[int(6 * u[4])],
            "tiles_per_cta": 1,
        }
        for name, position in zip(named(*STAGES), (u[5], u[7]), strict=False):
            values[name] = 1 + int(8 * position)
        for name in named(Kind.LOAD_BATCH):
            values[name] = (1, 2, 4, 8, 8, 12, 16)[int(7 * u[5])]
        one_tile = self.estimate_s(self.technique.params(**values)) - LAUNCH_S
        least, most = map(log, AIMED_S)
        target = exp(least + u[6] * (most - least))
        values["tiles_per_cta"] = max(FEWEST_TILES, round((target - LAUNCH_S) / one_tile))
        return self.technique.params(**values)

    def moved_bytes(self, params: Any) -> int:
        """Bytes read."""
        return params.grid * params.tiles_per_cta * params.tile_bytes

    def estimate_s(self, params: Any) -> float:
        """Roughly how long a run takes, in seconds."""
        moved = self.moved_bytes(params)
        instructions = moved / _VECTOR_BYTES * (_VECTOR_FLOATS * params.fma_per_element + _OTHERS)
        waves = params.grid / (SMS * params.ctas_per_sm)
        busy, tail = (1.0, ceil(waves) / waves) if waves >= 1.0 else (waves, 1.0)
        return LAUNCH_S + tail * max(self.traffic * moved / BYTES_PER_S, instructions / (ISSUE_PER_S * busy))

    def groups(self) -> Iterable[list[Any]]:
        """Groups of configurations that differ in one respect alone, so that the best of each can be told.

        Here in their stages: 1 … 8 as far as they fit, at least four.
        """
        ring = self.technique.named(Kind.STAGES)
        if not ring:
            return
        for params in self.candidates(skip=TO_COMPARE, largest=GROUPED_TILE):
            members = [self.technique.params(**vars(params) | dict.fromkeys(ring, stages)) for stages in range(1, 9)]
            members = [member for member in members if self.is_measurable(member)]
            if len(members) >= 4:
                yield members

    def timelines(self) -> Iterable[Any]:
        """Small configurations for in-kernel timelines: here one wave, at most 64 tiles per CTA."""
        for index, chosen in enumerate(self.candidates(skip=TO_TRACE)):
            one_wave = {"grid": SMS * chosen.ctas_per_sm, "tiles_per_cta": 24 + 5 * (index % 9)}
            params = self.technique.params(**vars(chosen) | one_wave)
            if self.estimate_s(params) <= LONGEST_TRACED_S and self.fits(params, observer=True):
                yield params

    def candidates(self, skip: int = 0, largest: int = LARGEST_TILE) -> Iterator[Any]:
        """Endless configurations, most of which fit; impossible combinations are left out."""
        for index in count(skip + 1):
            try:
                yield self.candidate([halton(index, base) for base in BASES], largest)
            except ValueError:
                continue

    def points(self) -> list[Any]:
        """Configurations that fit, spread over all parameters."""
        return list(islice(filter(self.is_measurable, self.candidates()), self.spread))

    def compared(self) -> list[list[Any]]:
        """The first of `groups`."""
        return list(islice(self.groups(), GROUPS))

    def with_timelines(self) -> list[Any]:
        """The first of `timelines`."""
        return list(islice(self.timelines(), self.traced))

    def is_measurable(self, params: Any) -> bool:
        """Whether the configuration fits and its run is neither too small nor too long."""
        moved, seconds = self.moved_bytes(params), self.estimate_s(params)
        return MIN_BYTES <= moved <= MAX_BYTES and SHORTEST_S <= seconds <= LONGEST_S and self.fits(params)

    def fits(self, params: Any, observer: bool = False) -> bool:
        """Whether ``ctas_per_sm`` CTAs fit on an SM; with ``observer`` those of the instrumented build."""
        program = self.technique.build(params)
        ctas = params.ctas_per_sm
        warps = program.warps + observer
        registers = program.registers + 16 * observer
        per_warp = WARP_SIZE * allocated_registers(registers)
        return (
            ctas * (program.shared_bytes + RESERVED_PER_CTA) <= SHARED_PER_SM
            and ctas * warps <= WARPS_PER_SM
            and ctas * ceil(warps / SCHEDULERS) <= REGISTERS_PER_SCHEDULER // per_warp
        )


def design_of(technique: Technique) -> Design | HostDesign:
    """The ``DESIGN`` of the technique's own module ``design``, else that of the tile pipelines."""
    own = f"{technique.params.__module__}.design"
    return import_module(own).DESIGN if find_spec(own) else Design(technique)
