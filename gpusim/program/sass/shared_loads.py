"""How far ahead of their use a compiler has put the loads from shared memory, from the instructions of a loop.

A warp that needs what an earlier load brings waits until it is there, and with it all loads issued before, because they
come back in order. What the warp issues between the load and its use hides that much of the wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import loaded, touched

__all__ = ["LATENCY", "SharedLoads", "loads_ahead"]

LATENCY = 32
"""Slots after which a load is there, about as on every device: what is put further ahead than that hides no more."""


@dataclass(frozen=True)
class SharedLoads:
    """Loads from shared memory.

    ``in_flight``: for each time that the warp waits; ``to_use``: slots of other instructions before that, on average.
    """

    in_flight: float
    to_use: float


def loads_ahead(body: Sequence[Instruction], *, loop: bool, behind: Sequence[Instruction] = ()) -> SharedLoads | None:
    """How far ahead the loads of ``body`` stand, a loop or code that runs once; None where there is no load.

    A turn of a loop goes on with what the one before has loaded.

    ``behind``: what the warp does after such code, where it may use what it has loaded. Shuffles are no loads here:
    nobody puts them ahead.
    """
    count = sum(map(_is_load, body))
    if not count:
        return None
    waits = list(_waits(body, 3 if loop else 1, behind))
    if not waits:
        return SharedLoads(float(count), float(LATENCY))
    return SharedLoads(count / len(waits), LATENCY - sum(waits) / len(waits))


def _waits(body: Sequence[Instruction], turns: int, behind: Sequence[Instruction]) -> Iterator[int]:
    """Slots that a warp alone waits for loads of ``body``, each time that it does, from the last turn on.

    Loads themselves take none here.
    """
    there: dict[int, int] = {}
    now, end = 0, turns * len(body)
    for at, one in enumerate([*list(body) * turns, *behind]):
        there_at = max((there[register] for register in touched(one) if register in there), default=0)
        if there_at > now:
            if at >= (turns - 1) * len(body):
                yield there_at - now
            now = there_at
        if at < end and _is_load(one):
            there.update(dict.fromkeys(loaded(one), now + LATENCY))
        elif not _is_load(one):
            now += 1


def _is_load(one: Instruction) -> bool:
    return one.opcode.startswith("LDS") and not one.opcode.startswith("LDSM")
