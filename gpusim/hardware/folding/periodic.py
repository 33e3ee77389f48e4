"""A loop that has become periodic need not be simulated to its end.

A kernel of many equal tiles settles into a steady state: after its first tiles, each further
``stride`` tiles (one turn of the rings) take the same time; likewise each further wave of
CTAs. The steady time is found in the completion times of a shorter run and checked: turns have to repeat, or the two
halves of the window to agree. A `Cut` says what is missing and where; `gpusim.hardware.folding.stretch` puts it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import fsum
from statistics import fmean
from typing import Protocol

import numpy as np

from gpusim.hardware.folding.shape import TURNS, Cut, Shape
from gpusim.hardware.folding.steady import steady_state
from gpusim.hardware.folding.waves import Waves, mean_end

__all__ = ["AGREEMENT", "LATER_AGREEMENT", "LOOKS", "find_cuts", "in_turn", "mean_cuts", "slope_cuts", "steady_wave"]

AGREEMENT, LATER_AGREEMENT = 1e-4, 1e-3
"""Largest relative difference of the period between the two halves of the window, at the first look and at later ones.
CTAs that share an SM need not fall into a strict period; then the mean slope between a short run and a longer one is
taken."""
LOOKS = 4
"""How often it is looked at most whether tiles are steady, each time after more of them."""

_TOTAL_AGREES = 5e-4
"""What a period that goes on changing, as it does between the two halves, may do to the total: half of the 1e-3 by
which folded and exact runs may differ, as halves may agree by chance."""

_BEGIN = 0.4
"""Part of the tiles after which the rings, which are all filled at the start, have been used up."""
_SPREADS = 10.0
"""So many times as much may the CTAs of a wave spread or close up, which is soon over: `occupancy` by nine times."""


class _Cta(Protocol):
    done_s: list[float]


class _Sm(Protocol):
    name: str
    ctas: list[_Cta]
    ended_s: list[float]
    waves: Waves | None


def find_cuts(sms: Sequence[_Sm], shape: Shape, missing_tiles: int, agreement: float) -> list[Cut] | None:
    """Where the missing tiles and CTAs of every SM go, in the order to put them in; None if tiles are not steady."""
    cuts: list[Cut] = []
    # Behind the tiles that all CTAs have those of the longer ones get on at another pace.
    fewest = min(len(cta.done_s) for sm in sms for cta in sm.ctas)
    for sm in sms:
        in_tiles = _tile_cuts(sm, shape, fewest, missing_tiles, agreement)
        if in_tiles is None:
            return None
        cuts += in_tiles + _wave_cut(sm, in_tiles, shape.resident)
    return cuts


def mean_cuts(sms: Sequence[_Sm], shape: Shape, missing_tiles: int) -> list[Cut]:
    """As `find_cuts`, by the mean period over the tiles of each wave from the part `_BEGIN` on, steady or not.

    Not of CTAs that run one after the other.
    """
    cuts: list[Cut] = []
    for sm in sms:
        in_tiles: list[Cut] = []
        for first in range(0, len(sm.ctas) if missing_tiles else 0, shape.resident):
            wave = _common(sm.ctas[first : first + shape.resident])
            last = len(wave[0]) - 1 - shape.drain
            steps = max(int(last * (1.0 - _BEGIN)) // shape.stride, 1) * shape.stride
            period = fmean(done[last] - done[last - steps] for done in wave) / steps
            until_s = max(sm.ended_s[first : first + shape.resident])
            in_tiles = _repeats(sm.name, wave[0], shape, period, missing_tiles, until_s) + in_tiles
        cuts += in_tiles + _wave_cut(sm, in_tiles, shape.resident)
    return cuts


def slope_cuts(shorter: Sequence[_Sm], longer: Sequence[_Sm], shape: Shape, missing_tiles: int) -> list[Cut] | None:
    """Cuts into ``longer``, a run of more tiles, whose period is the mean slope between the ends; None without one."""
    cuts: list[Cut] = []
    apart = in_turn(longer, shape)
    for less, more in zip(shorter, longer, strict=True):
        steps = len(more.ctas[-1].done_s) - len(less.ctas[-1].done_s)
        if steps <= 0 or len(more.ctas) != len(less.ctas):
            return None
        in_tiles: list[Cut] = []
        begins = [0.0, 0.0]
        for first in range(0, len(more.ctas), shape.resident):
            last = min(first + shape.resident, len(more.ctas)) - 1
            even = more.waves is not None and more.waves.even and last < more.waves.seen
            ends = [mean_end(sm.ended_s, last + 1, shape.resident) if even else sm.ended_s[last] for sm in (less, more)]
            period = ((ends[1] - begins[1]) - (ends[0] - begins[0])) / steps
            done = more.ctas[first].done_s
            found = _repeats(more.name, done, shape, period, missing_tiles, ends[1])
            in_tiles = [replace(cut, apart=apart) for cut in found] + in_tiles
            begins = ends
        cuts += in_tiles + _wave_cut(more, in_tiles, shape.resident)
    return cuts


def in_turn(sms: Sequence[_Sm], shape: Shape) -> bool:
    """Whether CTAs that share an SM run one after the other rather than side by side: older ones are served first."""
    for sm in sms:
        wave = _common(sm.ctas[: shape.resident])
        half_way = [done[len(done) // 2] for done in wave]
        if max(half_way) - min(half_way) > max(done[-1] - done[0] for done in wave) / 4.0:
            return True
    return False


def _common(ctas: Sequence[_Cta]) -> list[list[float]]:
    """When the tiles that all of them have were done, by CTA."""
    fewest = min(len(cta.done_s) for cta in ctas)
    return [cta.done_s[:fewest] for cta in ctas]


def _repeats(
    sm: str, done_s: Sequence[float], shape: Shape, period_s: float, missing: int, until_s: float
) -> list[Cut]:
    """Cuts that repeat as many turns of tiles at once as the second half of the run holds, then the few that are left.

    Without a strict period the end of a turn does not quite fit its beginning; so there are few such seams.
    """
    stride = shape.stride
    done = np.asarray(done_s[: len(done_s) - shape.drain])
    turns, most = missing // stride, max(len(done) // 2 // stride, 1)
    most = min(most - (most % TURNS if most > TURNS else 0), turns)
    cuts = []
    for each in (most, turns % most):
        if not each:
            continue
        steps = each * stride
        took = done[steps:] - done[:-steps]
        last = len(took) - 1 - np.argmin(np.abs(took[len(took) // 2 :][::-1] - steps * period_s))
        count = turns // each * steps if not cuts else steps
        cuts.append(Cut(sm, float(done[steps + last]), period_s, steps, count, True, float(took[last]), until_s))
    cuts.sort(key=lambda cut: cut.at_s, reverse=True)
    # What was put in first moves the end.
    return [replace(cut, until_s=cut.until_s + sum(other.added_s for other in cuts[:i])) for i, cut in enumerate(cuts)]


def _agreement_of_halves(agreement: float, steps: int, missing: int) -> float:
    """How far the periods of the two halves may differ: by more if few tiles are missing after ``steps``."""
    half = steps / 3.0
    return max(agreement, _TOTAL_AGREES * 2.0 * half * (steps + missing) / missing**2) if missing else agreement


def steady_wave(
    wave: Sequence[Sequence[float]], stride: int, drain: int, agreement: float, missing: int
) -> float | None:
    """Mean period of a tile of the CTAs in ``wave``, by when the tiles of each were done; None if it is not steady.

    The last ``drain`` tiles do not count. ``missing``: tiles to come. The CTAs have to stay together, so that one cut
    serves them all.
    """
    together = [fsum(done) for done in zip(*wave, strict=True)]
    agreement = _agreement_of_halves(agreement, len(together), missing)
    steady = steady_state(together, stride, drain, agreement)
    if steady is None:
        return None
    period, steps = steady[0] / len(wave), steady[1]
    last = len(together) - 1 - drain
    spread, before = (max(done[at] for done in wave) - min(done[at] for done in wave) for at in (last, last - steps))
    # Not of CTAs that run one after the other, because the schedulers serve older ones first.
    if spread > len(together) / 4.0 * period or abs(spread - before) > _SPREADS * agreement * period * steps:
        return None
    return period


def _go_on(waves: Sequence[Sequence[Sequence[float]]], period: float, shape: Shape, missing: int, part: float) -> bool:
    """Whether later waves, ``part`` of all, go on as the first, whose tiles took ``period``, if chance is left aside.

    Their CTAs begin one after the other, so that their turns are not as equal; the mean of what would be two halves is,
    over all of them, near enough for the total. Of no more tiles than were seen.
    """
    tiles = len(waves[0][0])
    last = tiles - 1 - shape.drain
    steps = 2 * (last // 3 // shape.stride * shape.stride)
    if not steps or missing > tiles:
        return False
    mean = fmean(done[last] - done[last - steps] for wave in waves for done in wave) / steps
    return abs(mean - period) * missing * part <= _TOTAL_AGREES * period * (tiles + missing)


def _tile_cuts(sm: _Sm, shape: Shape, tiles: int, missing: int, agreement: float) -> list[Cut] | None:
    """Where ``missing`` tiles of every CTA of an SM go, by their first ``tiles``, last wave first; None: not steady."""
    if missing == 0:
        return []
    starts = range(0, len(sm.ctas), shape.resident)
    waves = [[cta.done_s[:tiles] for cta in sm.ctas[first : first + shape.resident]] for first in starts]
    periods = [steady_wave(wave, shape.stride, shape.drain, agreement, missing) for wave in waves]
    unsteady = [wave for wave, period in zip(waves, periods, strict=True) if period is None]
    part = len(unsteady) / len(waves)
    if periods[0] is None or (unsteady and not _go_on(unsteady, periods[0], shape, missing, part)):
        return None
    cuts: list[Cut] = []
    for first, wave, period in zip(starts, waves, periods, strict=True):
        until_s = max(sm.ended_s[first : first + shape.resident])
        cuts = _repeats(sm.name, wave[0], shape, period or periods[0], missing, until_s) + cuts
    return cuts


def _wave_cut(sm: _Sm, tiles: Sequence[Cut], resident: int) -> list[Cut]:
    """Where the CTAs go that an SM has left out, once the cuts in ``tiles`` are in; ``resident`` share it."""
    waves = sm.waves
    if waves is None or not waves.missing:
        return []

    def put(at_s: float) -> float:
        return at_s + sum(cut.added_s for cut in tiles if cut.at_s <= at_s)

    before = waves.seen - waves.turn
    begin, end = put(sm.ended_s[before - 1]), put(sm.ended_s[waves.seen - 1])
    turn_s = end - begin
    if waves.even:
        first, last = (fmean(map(put, sm.ended_s[count - resident : count])) for count in (before, waves.seen))
        turn_s = last - first
    return [Cut(sm.name, end, turn_s / waves.turn, waves.turn, waves.missing, False, end - begin)]
