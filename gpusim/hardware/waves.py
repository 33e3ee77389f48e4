"""Equal CTAs that come one after the other, and need not all be simulated.

Waves may take turns that repeat, although no two CTAs start at the same distance: as soon as their ends show it,
whole turns of those that wait are left out, and `gpusim.hardware.periodic` makes a `Cut` of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpusim.hardware.steady import repeating

__all__ = ["Waves"]

_FEWEST = 6
"""Waves until the start of all SMs at once is forgotten."""
_AGREE, _AGREE_LATER, _LATER = 3e-4, 1e-3, 16
"""Largest relative difference between turns; the second after so many waves, when fewer are left out. Of 372 random
kernels of 16 to 70 waves 54 had such turns, and 4 of these ended more than 0.1 % off, one by 0.6 %."""
_MANY, _MORE = 128, 1
"""After so many waves without turns the mean has to do, if at least so many times as many are still to come."""


class Waves:
    """Watches the CTAs of an SM end, ``resident`` at a time; or leaves out the same ones as ``before``, another run."""

    def __init__(self, resident: int, before: Waves | None = None) -> None:
        self._resident = resident
        self._before = before if before is not None and before.missing else None
        self.seen = 0
        """CTAs that had ended when others were left out; 0 if none were."""
        self.turn = 0
        """CTAs after which everything repeats."""
        self.missing = 0
        """CTAs that were left out, whole turns."""

    def leave_out(self, ended_s: Sequence[float], waiting: int) -> int:
        """How many of the ``waiting`` CTAs, all alike, to leave out, now that one more has ended."""
        ended, resident = len(ended_s), self._resident
        if self._before is not None:
            if ended != self._before.seen:
                return 0
            self.seen, self.turn, self.missing = ended, self._before.turn, self._before.missing
            return self.missing
        if self.seen or ended % resident or ended < _FEWEST * resident or waiting <= resident:
            return 0
        found = repeating(ended_s, resident, ended - 1, _AGREE if ended < _LATER * resident else _AGREE_LATER)
        if found is not None:
            self.turn = found[1]
        elif ended >= _MANY * resident and waiting >= _MORE * ended:
            self.turn = ended - _FEWEST * resident
        else:
            return 0
        self.missing = waiting // self.turn * self.turn
        self.seen = ended if self.missing else 0
        return self.missing
