"""What makes an op of a list for each tile: plain values, so that programs can be pickled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpusim import program as ops
from gpusim.program import Op

__all__ = ["ArrivalMaker", "LateMaker", "Maker", "PhaseMaker", "stage_of"]


class Maker:
    """``make(tile)`` for an op with fixed arguments; a class so that programs can be pickled."""

    __slots__ = ("arguments", "op")

    def __init__(self, op: type, **arguments: Any) -> None:
        self.op = op
        self.arguments = arguments

    def __call__(self, tile: int) -> Op:
        """The op for ``tile``."""
        return self.op(**self.arguments, tile=tile)


def stage_of(barrier: str, stages: int, turn: int) -> str:
    """The name of the barrier that ``turn`` 0, 1, … has among the ``stages`` of an array."""
    return barrier if stages == 1 else f"{barrier}[{turn % stages}]"


@dataclass(frozen=True, slots=True)
class LateMaker:
    """A release of the tile that was ``lag`` tiles before."""

    ring: str
    lag: int

    def __call__(self, tile: int) -> Op:
        """The release in the iteration ``tile``."""
        return ops.Release(self.ring, tile=tile - self.lag)


@dataclass(frozen=True, slots=True)
class PhaseMaker:
    """A wait for a phase of one barrier of an array of ``stages``."""

    barrier: str
    stages: int
    phase: int | None
    lag: int
    every: int
    first: int

    def __call__(self, tile: int) -> Op:
        """The wait of ``tile``: a turn of the array for each of its tiles, or a given phase."""
        turn = (tile - self.first) // self.every
        if self.phase is None:
            turn -= self.lag
            phase = turn // self.stages
        else:
            phase = self.phase - self.lag
        return ops.Wait(stage_of(self.barrier, self.stages, turn), max(phase, -1), tile=tile)


@dataclass(frozen=True, slots=True)
class ArrivalMaker:
    """An arrival, perhaps with ``bytes`` to come, at one barrier of an array."""

    barrier: str
    stages: int
    bytes: int | None
    every: int
    first: int
    cluster: bool

    def __call__(self, tile: int) -> Op:
        """The arrival of ``tile``."""
        name = stage_of(self.barrier, self.stages, (tile - self.first) // self.every)
        return ops.Arrive(name, tile, self.cluster) if self.bytes is None else ops.ExpectTx(name, self.bytes, tile)
