"""Equal CTAs that come one after the other, and need not all be simulated.

Waves may take turns that repeat, although no two CTAs start at the same distance: as soon as their ends show it,
whole turns of those that wait are left out, and `gpusim.hardware.folding.periodic` makes a `Cut` of them. CTAs that
share an SM may instead move apart or together for hundreds of waves, while together they get on evenly: of many waves
those are left out whose mean end is as even.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

from gpusim.hardware.folding.steady import repeating

__all__ = ["Waves", "mean_end"]

_FEWEST = 6
"""Waves until the start of all SMs at once is forgotten."""
_AGREE, _AGREE_LATER, _LATER = 3e-4, 1e-3, 16
"""Largest relative difference between turns; the second after so many waves, when fewer are left out. Of 372 random
kernels of 16 to 70 waves 54 had such turns, and 4 of these ended more than 0.1 % off, one by 0.6 %."""
_EVEN, _EVEN_AGREE, _EVEN_MORE = 16, 5e-4, 3
"""After so many waves without turns their mean ends have to do, if four parts of them differ by so little, and at least
so many times as many are still to come: the CTAs of the last wave may end half a wave off. Of 110 random kernels of
120 to 180 waves 37 were such, and ended 0.09 % off at most; with two parts a third of them did by more than 0.1 %."""
_COSTLY, _COSTLY_AGREE, _COSTLY_MORE = 4000, 1e-3, 1
"""Likewise after so many tiles, of which each costs time."""
_MANY, _MORE = 128, 1
"""After so many waves they have to do in any case, if at least so many times as many are still to come."""


class Waves:
    """Watches the CTAs of an SM end, ``resident`` at a time; or leaves out the same ones as ``before``, another run.

    ``tiles``: those of each CTA.
    """

    def __init__(self, resident: int, tiles: int, before: Waves | None = None) -> None:
        self._resident, self._tiles = resident, tiles
        self._before = before if before is not None and before.missing else None
        self.seen = 0
        """CTAs that had ended when others were left out; 0 if none were."""
        self.turn = 0
        """CTAs after which everything repeats."""
        self.even = False
        """Whether it is only the mean end of whole waves that does."""
        self.missing = 0
        """CTAs that were left out, whole turns."""

    def leave_out(self, ended_s: Sequence[float], waiting: int) -> int:
        """How many of the ``waiting`` CTAs, all alike, to leave out, now that one more has ended."""
        ended, resident = len(ended_s), self._resident
        if self._before is not None:
            if ended != self._before.seen:
                return 0
            self.seen, self.turn, self.missing = ended, self._before.turn, self._before.missing
            self.even = self._before.even
            return self.missing
        if self.seen or ended % resident or ended < _FEWEST * resident or waiting <= resident:
            return 0
        found = repeating(ended_s, resident, ended - 1, _AGREE if ended < _LATER * resident else _AGREE_LATER)
        if found is not None:
            self.turn = found[1]
        elif self._even(ended_s, waiting) or (ended >= _MANY * resident and waiting >= _MORE * ended):
            self.turn, self.even = self._longest_turn(ended, waiting), True
        else:
            return 0
        self.missing = waiting // self.turn * self.turn
        self.seen = ended if self.missing else 0
        return self.missing

    def _even(self, ended_s: Sequence[float], waiting: int) -> bool:
        """Whether many waves are to come that get on evenly in the mean."""
        ended, resident = len(ended_s), self._resident
        agree, more = _EVEN_AGREE, _EVEN_MORE
        if ended * self._tiles >= _COSTLY:
            agree, more = _COSTLY_AGREE, _COSTLY_MORE
        if ended < _EVEN * resident or waiting < more * ended:
            return False
        part = (ended // resident - _FEWEST) // 4
        ends = [mean_end(ended_s, ended - back * part * resident, resident) for back in range(5)]
        took = [later - sooner for later, sooner in pairwise(ends)]
        return max(took) - min(took) <= agree * took[0]

    def _longest_turn(self, ended: int, waiting: int) -> int:
        """Nearly all CTAs that have ended, whole waves, so that few are left of those that wait."""
        waves = ended // self._resident - _FEWEST
        turns = [count * self._resident for count in range(waves, waves - waves // 4 - 1, -1)]
        return min(turns, key=lambda turn: waiting % turn)


def mean_end(ended_s: Sequence[float], count: int, resident: int) -> float:
    """The mean end of the last wave among the first ``count`` CTAs."""
    return fmean(ended_s[count - resident : count])
