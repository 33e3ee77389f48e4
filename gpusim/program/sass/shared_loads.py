"""How far ahead of their use a compiler has put the loads from shared memory, from the instructions of a loop.

A warp that needs what an earlier load brings waits until it is there, and with it all loads issued before, because they
come back in order. What the warp issues between the load and its use hides that much of the wait. Shuffles go the same
way: of two sums that are formed side by side, two are under way at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.registers import loaded, touched

__all__ = ["LATENCY", "SharedLoads", "loads_ahead", "shared_kinds"]

LATENCY = 32
"""Slots after which a load is there, about as on every device: what is put further ahead than that hides no more."""
_LOADS, _SHUFFLES = ("LDS", "LDSM"), ("SHFL",)
_TREE = 3
"""Shuffles in a row, without a load among them, from which on they are waited for by themselves, as those of a sum."""


@dataclass(frozen=True)
class SharedLoads:
    """Loads from shared memory, or shuffles.

    ``in_flight``: for each time that the warp waits; ``to_use``: slots of other instructions before that, on average.
    """

    in_flight: float
    to_use: float


def loads_ahead(body: Sequence[Instruction], *, loop: bool, behind: Sequence[Instruction] = ()) -> SharedLoads | None:
    """How far ahead the loads of ``body`` stand, a loop or code that runs once; None where there is no load.

    A turn of a loop goes on with what the one before has loaded. Where there are only shuffles, they are the loads.

    ``behind``: what the warp does after such code, where it may use what it has loaded.
    """
    roots = _LOADS if any(one.root in _LOADS for one in body) else _SHUFFLES
    count = sum(one.root in roots for one in body)
    if not count:
        return None
    waits = list(_waits(body, 3 if loop else 1, behind, roots))
    if not waits:
        return SharedLoads(float(count), float(LATENCY))
    return SharedLoads(count / len(waits), LATENCY - sum(waits) / len(waits))


def shared_kinds(body: Sequence[Instruction]) -> dict[int, str]:
    """Addresses of what is waited for in ``body`` as loads from shared memory, and of what is as shuffles: the opcode.

    A shuffle or two among loads are neither, as where one lane's number is handed to the others.
    """
    found: dict[int, str] = {}
    for root, those in groupby((one for one in body if one.root in (*_LOADS, *_SHUFFLES)), lambda one: one.root):
        run = [one.address for one in those]
        if root in _LOADS or len(run) >= _TREE:
            found.update(dict.fromkeys(run, root))
    return found


def _waits(
    body: Sequence[Instruction], turns: int, behind: Sequence[Instruction], roots: Collection[str]
) -> Iterator[int]:
    """Slots that a warp alone waits for loads (``roots``) of ``body``, each time that it does, from the last turn on.

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
        if one.root not in roots:
            now += 1
        elif at < end:
            there.update(dict.fromkeys(loaded(one), now + LATENCY))
