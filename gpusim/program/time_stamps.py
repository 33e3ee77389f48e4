"""The program of a kernel that is built with time stamps (``realkernels/_harness/probe.cuh``).

A warp takes a stamp where it begins something else, and a stamp takes issue slots. So a recording is compared with
what the kernel would do with stamps of its own, not with what it does without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from gpusim.program.barrier_ops import ClusterSync, NamedBarrier, SyncThreads, Wait
from gpusim.program.kernel import KernelProgram, Role
from gpusim.program.ops import (
    Acquire,
    Atomic,
    BulkWait,
    Compute,
    CpAsync,
    Load,
    LoadCluster,
    Op,
    Store,
    StoreCluster,
    StoreShared,
    TmaLoad,
    TmaStore,
    WaitFull,
    WaitGroup,
    WaitLoads,
)
from gpusim.program.tensor_ops import Wgmma, WgmmaWait

__all__ = ["STEPS", "TimeStamp", "Turns", "with_time_stamps"]


@dataclass(frozen=True, slots=True)
class TimeStamp:
    """Every warp of the role takes a stamp; up to the next its lane shows ``kind``, in the words of a timeline."""

    kind: str
    tile: int = -1
    looks: bool = False
    """Whether the warp first looks if it keeps so many stamps that it has to write them."""


_KINDS: dict[type[Op], tuple[str, ...]] = {
    Acquire: ("wait",), WaitFull: ("wait",), Wait: ("wait",), WaitGroup: ("wait",), WaitLoads: ("wait",),
    BulkWait: ("wait",), SyncThreads: ("barrier",), ClusterSync: ("barrier",), NamedBarrier: ("barrier",),
    CpAsync: ("issue",), TmaLoad: ("issue",), TmaStore: ("issue", "store"),
    Load: ("load",), LoadCluster: ("load",), Atomic: ("store", "load"), Store: ("store",), StoreCluster: ("store",),
    StoreShared: ("store",), Compute: ("compute",),
    Wgmma: ("compute",), WgmmaWait: ("compute",),
}  # fmt: skip
"""What may begin with a stamp, and how it may be shown; commits, releases and arrivals belong to the step before."""

_LOOK_FIRST = (WaitFull, WaitGroup, WaitLoads, Load, LoadCluster)
"""What a warp looks in front of whether to write its stamps: waits for data, and loads."""

STEPS = frozenset(kind for kinds in _KINDS.values() for kind in kinds)
"""Kinds of steps that a kernel may tell apart."""

Turns = Mapping[str, Sequence[str]]
"""Kinds of the steps that the stamps of a role tell in one turn of its loop, in their order, by the role's name."""


def with_time_stamps(program: KernelProgram, turns: Turns) -> KernelProgram:
    """The same kernel with a stamp before each step of ``turns``; what is no such step belongs to the one before it.

    Of a role that is not in ``turns`` the turn is that of the longest name which its own begins with, if any.
    """
    return replace(program, roles=tuple(_with_stamps(role, turns) for role in program.roles))


def _with_stamps(role: Role, turns: Turns) -> Role:
    name = max((name for name in turns if role.name.startswith(name)), key=len, default=None)
    return role if name is None else replace(role, body=partial(_stamped, role.body, tuple(turns[name])))


def _stamped(body: Callable[[int], Iterable[Op]], turn: tuple[str, ...], tiles: int) -> Iterator[Op | TimeStamp]:
    """The ops of ``body``, each step of ``turn`` behind a stamp.

    A step begins with the first op of the kind that comes next in ``turn``. Where none comes before the turn is over,
    as in front of a loop and at its end, the turn goes on with what does come.
    """
    place, now = -1, ("", -1)
    coming = _Coming(body(tiles))
    for op in coming:
        expected = turn[(place + 1) % len(turn)]
        step = _shown_as(op, turn, expected), op.tile
        if step[0] and (step != now or (step[0] == expected and len(turn) > 1)):
            if place < 0:
                begins = step[0] != "compute" or set(turn) == {"compute"}  # in front of all else: addresses
            else:
                begins = step[0] == expected or not coming.has(expected, turn, now)
            if begins:
                place, now = _following(turn, place, step[0]), step
                yield TimeStamp(*step, isinstance(op, _LOOK_FIRST))
        yield op


class _Coming:
    """The ops that are left, of which some have been looked at."""

    def __init__(self, ops: Iterable[Op]) -> None:
        self._ops = iter(ops)
        self._seen: deque[Op] = deque()

    def __iter__(self) -> Iterator[Op]:
        while (op := self._take()) is not None:
            yield op

    def _take(self) -> Op | None:
        return self._seen.popleft() if self._seen else next(self._ops, None)

    def has(self, kind: str, turn: tuple[str, ...], now: tuple[str, int]) -> bool:
        """Whether a step of ``kind`` comes before the next one like ``now``, of another tile.

        Where ``now`` computes that is the one after: addresses of the next tile come before its turn begins.
        """
        last = now[1] + 1 if now[0] == "compute" else now[1]
        for op in self._look():
            step = _shown_as(op, turn, kind), op.tile
            if step[0] == kind:
                return True
            if step[0] == now[0] and step[1] > last:
                return False
        return False

    def _look(self) -> Iterator[Op]:
        yield from tuple(self._seen)
        for op in self._ops:
            self._seen.append(op)
            yield op


def _shown_as(op: Op, turn: tuple[str, ...], expected: str) -> str:
    """The kind of step that ``op`` may begin: the one that is expected, or another of ``turn``; "" if none."""
    kinds = _KINDS.get(type(op), ())
    if isinstance(op, Load) and not op.wait and "issue" in turn:
        kinds = ("issue",)
    if isinstance(op, Compute) and op.tile < 0:  # addresses and loops between tiles
        kinds = ()
    return expected if expected in kinds else next((kind for kind in kinds if kind in turn), "")


def _following(turn: tuple[str, ...], place: int, kind: str) -> int:
    """The next place behind ``place`` at which ``turn`` has ``kind``."""
    return next(at % len(turn) for at in range(place + 1, place + 1 + len(turn)) if turn[at % len(turn)] == kind)
