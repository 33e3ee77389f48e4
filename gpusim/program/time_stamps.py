"""The program of a kernel that is built with time stamps (``realkernels/_harness/probe.cuh``).

A warp takes a stamp where it begins something else, and a stamp takes issue slots. So a recording is compared with
what the kernel would do with stamps of its own, not with what it does without.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from gpusim.program.barrier_ops import ClusterSync, NamedBarrier, SyncThreads, Wait
from gpusim.program.kernel import KernelProgram
from gpusim.program.ops import (
    Acquire,
    BulkWait,
    Compute,
    CpAsync,
    Load,
    Op,
    Store,
    StoreShared,
    TmaLoad,
    TmaStore,
    WaitFull,
    WaitGroup,
    WaitLoads,
)
from gpusim.program.tensor_ops import Wgmma, WgmmaWait

__all__ = ["STEPS", "TimeStamp", "with_time_stamps"]


@dataclass(frozen=True, slots=True)
class TimeStamp:
    """Every warp of the role takes a stamp; up to the next its lane shows ``kind``, in the words of a timeline."""

    kind: str
    tile: int = -1


_KINDS: dict[type[Op], str] = {
    Acquire: "wait", WaitFull: "wait", Wait: "wait", WaitGroup: "wait", WaitLoads: "wait", BulkWait: "wait",
    SyncThreads: "barrier", ClusterSync: "barrier", NamedBarrier: "barrier",
    CpAsync: "issue", TmaLoad: "issue", TmaStore: "issue",
    Load: "load", Store: "store", StoreShared: "store", Compute: "compute",
    Wgmma: "compute", WgmmaWait: "compute",
}  # fmt: skip
"""What may begin with a stamp, and how it is shown; commits, releases and arrivals belong to the step before."""

STEPS = frozenset(_KINDS.values())
"""Kinds of steps that a kernel may tell apart."""


def with_time_stamps(program: KernelProgram, told: Collection[str] = STEPS) -> KernelProgram:
    """The same kernel with a stamp before each step of a kind in ``told``; other steps belong to those before them."""
    kinds = frozenset(told)
    return replace(
        program, roles=tuple(replace(role, body=partial(_stamped, role.body, kinds)) for role in program.roles)
    )


def _stamped(body: Callable[[int], Iterable[Op]], told: frozenset[str], tiles: int) -> Iterator[Op | TimeStamp]:
    now: tuple[str, int] | None = None
    for op in body(tiles):
        kind = _KINDS.get(type(op))
        if isinstance(op, Load) and not op.wait and "issue" in told:
            kind = "issue"
        between_tiles = isinstance(op, Compute) and op.tile < 0  # addresses and loops: no step of their own
        if kind in told and not between_tiles and (kind, op.tile) != now:
            now = kind, op.tile
            yield TimeStamp(kind, op.tile)
        yield op
