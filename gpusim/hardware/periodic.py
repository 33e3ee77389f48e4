"""A loop that has become periodic need not be simulated to its end.

A kernel of many equal tiles settles into a steady state: after its first tiles, each further
``stride`` tiles (one turn of the rings) take the same time; likewise each further wave of
CTAs. The steady time is found in the completion times of a shorter run and checked: the two halves
of the window it is taken from must agree. A `Cut` says what is missing and where;
`gpusim.hardware.stretch` puts the missing repetitions back into the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import fsum, inf, lcm
from typing import Protocol

import numpy as np

from gpusim.program import KernelProgram

__all__ = [
    "AGREEMENT",
    "Cut",
    "Shape",
    "agree",
    "drain_of",
    "find_cuts",
    "in_turn",
    "slope_cuts",
    "steady_state",
    "stride_of",
]

AGREEMENT = (1e-4, 1e-3, 1e-3, 1e-3)
"""Largest relative difference of the period between the two halves of the window, on each longer run. CTAs
that share an SM need not fall into a strict period; then the mean slope between two runs is taken, once
two such slopes agree or after the last run."""

_SLOPES_AGREE = 1e-3
_WAVES_AGREE = 3e-4
"""Enough for waves, of which fewer are left out."""

_TOTAL_AGREES = 9.8e-4
"""What a period that goes on changing, as it does between the two halves, may do to the total: a little less than the
1e-3 by which folded and exact runs may differ."""

_SPREADS = 10.0
"""So many times as much may the CTAs of a wave spread or close up, which is soon over: `occupancy` by nine times."""

_TURNS = 4
"""CTAs on an SM may take turns with each other, so that only several turns of their rings repeat."""

_FEWEST_TILES = 20
_FEWEST_WAVES = 6
_LARGEST_STRIDE = 24


@dataclass(frozen=True, slots=True)
class Cut:
    """At ``at_s`` a run of ``missing`` steps was left out; every ``stride`` of them take ``stride * period_s``.

    ``sm`` names the SM whose lanes it concerns; ``tiles`` says that the steps are tiles, so that
    tile numbers have to be counted on. The turn before ``at_s``, which is repeated, took ``turn_s``
    there: not quite the mean where the period is not strict. The CTAs concerned end by ``until_s``.
    ``apart``: CTAs of an SM run one after the other, so that no turn stands for what is missing.
    """

    sm: str
    at_s: float
    period_s: float
    stride: int
    missing: int
    tiles: bool
    turn_s: float
    until_s: float = inf
    apart: bool = False

    @property
    def added_s(self) -> float:
        """How much later everything after the cut happens."""
        return self.missing * self.period_s


class _Cta(Protocol):
    done_s: list[float]


class _Sm(Protocol):
    name: str
    ctas: list[_Cta]
    ended_s: list[float]


@dataclass(frozen=True, slots=True)
class Shape:
    """What repeats: ``resident`` CTAs per SM, turns of ``stride`` tiles, the last ``drain`` tiles left aside."""

    resident: int
    stride: int
    drain: int

    def fewest(self, ctas: int) -> tuple[int, int]:
        """(CTAs per SM, tiles) of the shortest run in which a steady state can be seen."""
        waves = _FEWEST_WAVES * self.resident + ctas % self.resident
        return waves, max(_FEWEST_TILES, 4 * self.stride) + self.drain

    def longer(self, tiles: int) -> int:
        """Tiles of the next run: half as many more, in whole turns of turns, because CTAs may take turns as well."""
        turn = _TURNS * self.stride
        return tiles + -(-tiles // (2 * turn)) * turn

    def whole_turns(self, few: int, tiles: int) -> int:
        """The next tile count from ``few`` on from which only whole turns are missing to ``tiles``."""
        return few + (tiles - few) % self.stride


def drain_of(program: KernelProgram) -> int:
    """Tiles at the end that already feel it: the deepest ring and two more."""
    return max((ring.stages for ring in program.rings), default=1) + 2


def stride_of(program: KernelProgram) -> int:
    """Tiles after which all rings of the program are at the same stage again, and each role at its next turn."""
    turn = lcm(program.turn, *(ring.stages for ring in program.rings))
    return turn if turn <= _LARGEST_STRIDE else max(program.turn, *(ring.stages for ring in program.rings))


def steady_state(done_s: Sequence[float], stride: int, drain: int, agreement: float) -> tuple[float, float] | None:
    """Period per step and a moment within the steady state, or None if it is not reached.

    ``done_s``: completion time of step 0, 1, 2 …; the last ``drain`` steps are ignored,
    because the end of the work is already felt there.
    """
    last = len(done_s) - 1 - drain
    half = (last // 3) // stride * stride
    if half < stride or last - 2 * half < 1:
        return None
    early = (done_s[last - half] - done_s[last - 2 * half]) / half
    late = (done_s[last] - done_s[last - half]) / half
    if late > 0.0 and abs(late - early) <= agreement * late:
        return (done_s[last] - done_s[last - 2 * half]) / (2 * half), done_s[last]
    # Perhaps it was reached within the window: then all quarters of a window half as long agree.
    part = max(last // 8 // stride, 1) * stride
    if last - 4 * part < 1:
        return None
    ends = [done_s[last - quarters * part] for quarters in range(5)]
    periods = [(later - sooner) / part for later, sooner in pairwise(ends)]
    if periods[0] <= 0.0 or max(periods) - min(periods) > agreement * periods[0]:
        return None
    return (periods[0] + periods[1]) / 2.0, done_s[last]


def find_cuts(
    sms: Sequence[_Sm], shape: Shape, missing_ctas: int, missing_tiles: int, agreement: float
) -> list[Cut] | None:
    """Where the missing tiles and CTAs of every SM go, in the order to put them in; None if not steady."""
    cuts: list[Cut] = []
    for sm in sms:
        in_tiles = _tile_cuts(sm, shape, missing_tiles, _enough(agreement, len(sm.ctas[-1].done_s), missing_tiles))
        if in_tiles is None:
            return None
        in_waves = _wave_cut(sm, shape, missing_ctas, in_tiles, max(agreement, _WAVES_AGREE))
        if in_waves is None:
            return None
        cuts += in_tiles + in_waves
    return cuts


def slope_cuts(
    shorter: Sequence[_Sm], longer: Sequence[_Sm], shape: Shape, missing_ctas: int, missing_tiles: int
) -> list[Cut] | None:
    """Cuts into ``longer`` whose period is the mean slope between the ends of two runs; None without one."""
    cuts: list[Cut] = []
    apart = in_turn(longer, shape)
    for less, more in zip(shorter, longer, strict=True):
        of_tiles = missing_tiles > 0
        ctas, tiles = len(more.ctas) - len(less.ctas), len(more.ctas[-1].done_s) - len(less.ctas[-1].done_s)
        # Only one of the two may differ.
        steps, others = (tiles, ctas) if of_tiles else (ctas, tiles)
        if steps <= 0 or others:
            return None
        if not of_tiles:
            period = (more.ended_s[-1] - less.ended_s[-1]) / steps
            cuts += _repeats(more.name, more.ended_s, shape.resident, shape.resident, period, missing_ctas, False)
            continue
        in_tiles = []
        begins = [0.0, 0.0]
        for first in range(0, len(more.ctas), shape.resident):
            last = min(first + shape.resident, len(more.ctas)) - 1
            ends = [less.ended_s[last], more.ended_s[last]]
            period = ((ends[1] - begins[1]) - (ends[0] - begins[0])) / steps
            done = more.ctas[first].done_s
            found = _repeats(more.name, done, shape.stride, shape.drain, period, missing_tiles, True, ends[1])
            in_tiles = [replace(cut, apart=apart) for cut in found] + in_tiles
            begins = ends
        in_waves = _wave_cut(more, shape, missing_ctas, in_tiles, 0.1)
        if in_waves is None:
            return None
        cuts += in_tiles + in_waves
    return cuts


def in_turn(sms: Sequence[_Sm], shape: Shape) -> bool:
    """Whether CTAs that share an SM run one after the other rather than side by side: older ones are served first."""
    for sm in sms:
        wave = [cta.done_s for cta in sm.ctas[: shape.resident]]
        half_way = [done[len(done) // 2] for done in wave]
        if max(half_way) - min(half_way) > max(done[-1] - done[0] for done in wave) / 4.0:
            return True
    return False


def _repeats(
    sm: str,
    done_s: Sequence[float],
    stride: int,
    drain: int,
    period_s: float,
    missing: int,
    tiles: bool,
    until_s: float = inf,
) -> list[Cut]:
    """Cuts that repeat as many turns at once as the second half of the run holds, then the few that are left.

    Without a strict period the end of a turn does not quite fit its beginning; so there are few such seams.
    """
    done = np.asarray(done_s[: len(done_s) - drain])
    turns, most = missing // stride, max(len(done) // 2 // stride, 1)
    most -= most % _TURNS if most > _TURNS else 0
    cuts = []
    for each in (min(most, turns), turns % most):
        if not each:
            continue
        steps = each * stride
        took = done[steps:] - done[:-steps]
        last = len(took) - 1 - np.argmin(np.abs(took[len(took) // 2 :][::-1] - steps * period_s))
        count = turns // each * steps if not cuts else steps
        cuts.append(Cut(sm, float(done[steps + last]), period_s, steps, count, tiles, float(took[last]), until_s))
    cuts.sort(key=lambda cut: cut.at_s, reverse=True)
    # What was put in first moves the end.
    return [replace(cut, until_s=cut.until_s + sum(other.added_s for other in cuts[:i])) for i, cut in enumerate(cuts)]


def agree(slopes: Sequence[Sequence[Cut] | None]) -> bool:
    """Whether the last two of ``slopes`` (`slope_cuts` of longer and longer runs) have the same periods."""
    if len(slopes) < 2 or None in slopes[-2:]:
        return False
    less, more = ({(cut.sm, cut.tiles): cut.period_s for cut in cuts} for cuts in slopes[-2:])
    return all(abs(less[key] - more[key]) <= _SLOPES_AGREE * more[key] for key in more)


def _enough(agreement: float, steps: int, missing: int) -> float:
    """How far the periods of the two halves may differ: by more if few tiles are missing after ``steps``."""
    half = steps / 3.0
    return max(agreement, _TOTAL_AGREES * 2.0 * half * (steps + missing) / missing**2) if missing else agreement


def _tile_cuts(sm: _Sm, shape: Shape, missing: int, agreement: float) -> list[Cut] | None:
    """Where ``missing`` tiles of every CTA of an SM go, the last wave first; None if not steady.

    The CTAs of a wave have to stay together, so that one cut with their mean period serves them all.
    """
    if missing == 0:
        return []
    cuts = []
    for first in range(0, len(sm.ctas), shape.resident):
        wave = [cta.done_s for cta in sm.ctas[first : first + shape.resident]]
        steady = steady_state([fsum(done) for done in zip(*wave, strict=True)], shape.stride, shape.drain, agreement)
        if steady is None:
            return None
        period = steady[0] / len(wave)
        last = len(wave[0]) - 1 - shape.drain
        half = (last // 3) // shape.stride * shape.stride
        spread, before = (max(done[at] for done in wave) - min(done[at] for done in wave) for at in (last, last - half))
        # Not of CTAs that run one after the other, because the schedulers serve older ones first.
        if spread > len(wave[0]) / 4.0 * period or abs(spread - before) > _SPREADS * agreement * period * half:
            return None
        until_s = max(sm.ended_s[first : first + shape.resident])
        cuts.append(_repeats(sm.name, wave[0], shape.stride, shape.drain, period, missing, True, until_s))
    return [cut for in_wave in reversed(cuts) for cut in in_wave]


def _wave_cut(sm: _Sm, shape: Shape, missing: int, tiles: Sequence[Cut], agreement: float) -> list[Cut] | None:
    """Where ``missing`` CTAs of an SM go once the tile cuts are in; None if the waves are not steady."""
    if missing == 0:
        return []
    ends = [end + sum(cut.added_s for cut in tiles if cut.at_s <= end) for end in sm.ended_s]
    steady = steady_state(ends, shape.resident, shape.resident, agreement)
    if steady is None:
        return None
    period, at = steady
    return [Cut(sm.name, at, period, shape.resident, missing, False, period * shape.resident)]
