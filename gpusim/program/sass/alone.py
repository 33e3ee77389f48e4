"""How long one warp alone needs for instructions of fixed latency, from the machine code of a loop or of a part of it.

The compiler tells the hardware after how many cycles the warp may issue its next instruction, far enough from what it
needs of those before. For results of MUFU, which come later, the warp waits besides. Loads, of which nobody knows how
long they take, are others' matter: `gpusim.program.sass.shared_loads`, and the ops that wait for memory.

Source: realkernels.microbench steps (30 loops, 0.4 % on average), issue (MUFU in a chain).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gpusim.program.sass.families import SPECIAL
from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import touched, written

__all__ = ["GAPS", "cycles_alone", "gaps_alone", "short_gaps"]

GAPS = 4
"""Cycles up to which gaps between a warp's instructions are counted by their length."""

_BRANCH = 4
"""Cycles that a branch takes beyond its stall count when it is taken (`steps`)."""
_MUFU_LATENCY, _MUFU_INTERVAL = 17, 8
"""Cycles from one to what needs its result, and to the next (`issue`)."""
_TURNS = 3
"""Turns of a loop that are run through; the last one is looked at."""


def cycles_alone(body: Sequence[Instruction], *, loop: bool, behind: Sequence[Instruction] = ()) -> int:
    """Cycles of ``body``, a turn of a loop or code that runs once; 0 where the stall counts are not known.

    ``behind``: what the warp does after such code, where it may wait for a result.
    """
    return sum(gaps_alone(body, loop=loop, behind=behind))


def gaps_alone(body: Sequence[Instruction], *, loop: bool, behind: Sequence[Instruction] = ()) -> list[int]:
    """The same by instruction: cycles from each to the next one of the warp. The last has what lies behind it."""
    if not body or any(one.stall is None for one in body):
        return []
    there: dict[int, int] = {}
    now = free = 0
    gaps: list[int] = []
    for _ in range(_TURNS if loop else 1):
        issued, begun = [], now
        for one in body:
            now += _waited(one, now, there)
            issued.append(now)
            if one.root in SPECIAL:
                starts = max(free, now)
                free = starts + _MUFU_INTERVAL
                there.update(dict.fromkeys(written(one), starts + _MUFU_LATENCY))
            now += max(one.stall or 0, 1)
        now += _BRANCH if body[-1].opcode == "BRA" else 0
        gaps = [later - sooner for sooner, later in pairwise(issued)]
        # In a loop the first one waits for what the turn before has left.
        gaps.append(now - issued[-1] + issued[0] - begun)
    later = now
    for one in behind if there else ():
        wait = _waited(one, later, there)
        gaps[-1] += wait
        later += wait + max(one.stall or 0, 1)
    return gaps


def short_gaps(gaps: Sequence[int]) -> tuple[int, ...]:
    """How many of ``gaps`` are one cycle, two … and `GAPS` long."""
    return tuple(sum(gap == cycles for gap in gaps) for cycles in range(1, GAPS + 1))


def _waited(one: Instruction, now: int, there: dict[int, int]) -> int:
    """Cycles until what it needs is there."""
    needed = [there[register] for register in touched(one) if register in there] if there else []
    return max(max(needed, default=now) - now, 0)
