"""How long one warp alone needs for instructions of fixed latency, from the machine code of a loop or of a part of it.

The compiler tells the hardware after how many cycles the warp may issue its next instruction, far enough from what it
needs of those before. For results of MUFU, which come later, the warp waits besides. Loads, of which nobody knows how
long they take, are others' matter: `gpusim.program.sass.shared_loads`, and the ops that wait for memory.

Source: realkernels.microbench steps (30 loops, 0.4 % on average), issue (MUFU in a chain).
"""

from __future__ import annotations

from collections.abc import Sequence

from gpusim.program.sass.families import SPECIAL
from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import touched, written

__all__ = ["cycles_alone"]

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
    if any(one.stall is None for one in body):
        return 0
    there: dict[int, int] = {}
    now = begun = free = 0
    for _ in range(_TURNS if loop else 1):
        begun = now
        for one in body:
            now += _waited(one, now, there)
            if one.root in SPECIAL:
                starts = max(free, now)
                free = starts + _MUFU_INTERVAL
                there.update(dict.fromkeys(written(one), starts + _MUFU_LATENCY))
            now += max(one.stall or 0, 1)
        now += _BRANCH if body and body[-1].opcode == "BRA" else 0
    waits, later = 0, now
    for one in behind if there else ():
        wait = _waited(one, later, there)
        waits += wait
        later += wait + max(one.stall or 0, 1)
    return now - begun + waits


def _waited(one: Instruction, now: int, there: dict[int, int]) -> int:
    """Cycles until what it needs is there."""
    needed = [there[register] for register in touched(one) if register in there] if there else []
    return max(max(needed, default=now) - now, 0)
