"""What repeats in a kernel, and a place where what repeats was left out."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, lcm

from gpusim.hardware.memory.jitter import LEAST_TURN
from gpusim.program import KernelProgram

__all__ = ["TURNS", "Cut", "Shape", "drain_of", "stride_of"]

TURNS = 4
"""CTAs on an SM may take turns with each other, so that only several turns of their rings repeat."""

_FEWEST_TILES = 28
_CHEAP_TILES = 64
"""Tiles of all CTAs of an SM: so many cost little, and of one CTA they show what comes after the first dozens."""
_LARGEST_STRIDE = 24


@dataclass(frozen=True, slots=True)
class Cut:
    """A place in a shortened run where steps, tiles or whole waves of CTAs, were left out."""

    sm: str
    """Name of the SM whose lanes it concerns."""
    at_s: float
    """When in the run the missing steps would have begun."""
    period_s: float
    """Seconds of one step, on average over a turn."""
    stride: int
    """Steps of one turn."""
    missing: int
    """Steps that were left out."""
    tiles: bool
    """Whether the steps are tiles, so that the numbers of later tiles have to be counted on."""
    turn_s: float
    """Seconds of the turn before ``at_s``, which is repeated; not quite the mean where the period is not strict."""
    until_s: float = inf
    """By when in the run the CTAs concerned have ended."""
    apart: bool = False
    """Whether CTAs of an SM run one after the other, so that no turn stands for what is missing."""

    @property
    def added_s(self) -> float:
        """How much later everything after the cut happens."""
        return self.missing * self.period_s


@dataclass(frozen=True, slots=True)
class Shape:
    """What repeats in a kernel, and where in a run to look for it."""

    resident: int
    """CTAs per SM at the same time."""
    stride: int
    """Tiles of one turn: after so many everything is as before, only later."""
    drain: int
    """Tiles at the end of a CTA that are not looked at, because they feel that no more come."""
    head: int = 0
    """Tiles at the start that differ from the others; runs are so long that these lie in their first third."""

    def fewest(self, ctas: int) -> int:
        """Tiles of the shortest run in which a steady state can be seen, with ``ctas`` on an SM in all."""
        return max(_FEWEST_TILES, _CHEAP_TILES // max(ctas, 1), 3 * self.stride) + 3 * self.head + self.drain

    def longer(self, tiles: int) -> int:
        """Tiles of the next run: half as many more, in whole turns of turns, because CTAs may take turns as well."""
        turn = TURNS * self.stride
        return tiles + -(-tiles // (2 * turn)) * turn

    def whole_turns(self, few: int, tiles: int) -> int:
        """The next tile count from ``few`` on from which only whole turns are missing to ``tiles``."""
        together = self.resident if self.resident <= TURNS else 1
        turn = together * self.stride
        return few + (tiles - few) % (turn if turn <= _LARGEST_STRIDE else self.stride)


def drain_of(program: KernelProgram) -> int:
    """Tiles at the end that already feel it: the deepest ring and two more, before those that leave something out."""
    return max((ring.stages for ring in program.rings), default=1) + 2 + program.tail


def stride_of(program: KernelProgram) -> int:
    """Tiles after which rings are at the same stage again, roles at their next turn, and loads as late as before."""
    turn = lcm(program.turn, *(ring.stages for ring in program.rings))
    if turn > _LARGEST_STRIDE:
        turn = max([program.turn, *(ring.stages for ring in program.rings)])
    return -(-LEAST_TURN // turn) * turn
