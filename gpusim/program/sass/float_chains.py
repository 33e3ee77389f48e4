"""How many FP32 instructions a warp can have under way at once, from the instructions of a loop.

One that needs what another computes waits for it. What the compiler has put between the two is issued meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpusim.program.sass.families import FP32
from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import read, written

__all__ = ["LATENCY", "float_chains"]

LATENCY = 4
"""Slots from an FP32 instruction to one that needs its result, as on every device since Volta."""
_TURNS = 3
"""Turns of a loop that are run through; the last one is looked at."""


def float_chains(body: Sequence[Instruction], *, loop: bool) -> float | None:
    """Chains that take as long as those in ``body``, a loop or code that runs once; None without FP32 instructions.

    Where the warp never waits: instructions for each step of the longest chain, `LATENCY` at least.
    """
    count = sum(map(_is_float, body))
    if not count:
        return None
    turns = _TURNS if loop else 1
    there: dict[int, int] = {}
    steps: dict[int, int] = {}
    now = waited = longest = longest_before = 0
    for _ in range(turns):
        waited, longest_before = 0, longest
        for one in body:
            sources = tuple(read(one))
            is_float = _is_float(one)
            ready = max((there[register] for register in sources if register in there), default=0)
            if is_float and ready > now:
                waited += ready - now
                now = ready
            now += 1
            step = max((steps[register] for register in sources if register in steps), default=0) + is_float
            longest = max(longest, step)
            # Others pass on what they are given, and their own time is stated by other words.
            result = now - 1 + LATENCY if is_float else ready
            for register in written(one):
                there[register], steps[register] = result, step
    if waited:
        return LATENCY * count / (count + waited)
    return max(count / max(longest - longest_before, 1), float(LATENCY))


def _is_float(one: Instruction) -> bool:
    return one.root in FP32
