"""Ops of a role's list that wait, or that others wait for: groups of copies, loads, barriers, registers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gpusim.scenario.fields import Count, Name
from gpusim.scenario.kernel.schedule_schema import ByPartOfRole, Schedule, Size

__all__ = [
    "Arrival",
    "Barrier",
    "Expect",
    "Group",
    "Meeting",
    "OnBarrier",
    "PendingBulk",
    "PendingGroups",
    "PendingLoads",
    "PhaseWait",
    "Registers",
]


class Group(Schedule):
    """Close a group of cp.async; `ring` only gives "ahead: full" its depth."""

    ring: Name | None = None
    """Ring whose stages - 1 is meant by "ahead: full"."""


class Meeting(ByPartOfRole):
    """__syncthreads."""

    warps: Annotated[Count, Field(ge=1, le=32)] | None = None
    """How many warps of the role come to it, where a branch keeps the others from it: an error that tells who is
    missing, unless it is all of them. Default: all of them."""


class PendingGroups(Schedule):
    """Wait until at most `pending` newest groups are in flight."""

    pending: Annotated[Count, Field(ge=0, le=64)] = 0
    """Newest groups that may still be in flight."""


class PendingLoads(Schedule):
    """Wait until at most `pending` youngest loads are under way."""

    pending: Annotated[Count, Field(ge=0, le=64)] = 0
    """Youngest `load` ops with `wait: false` that may still be under way, of this tile or of others; 0: none."""


class PendingBulk(PendingGroups):
    """Wait until the source of bulk stores has been read."""

    read: bool = True
    """Recorded only. The model always waits until the source has been read, so that its stage may be filled again; with
    `read: false` the device waits longer."""


class Barrier(Schedule):
    """bar.sync of a subset of the CTA's warps."""

    id: Annotated[Count, Field(ge=0, le=15)]
    """Number of the barrier."""
    warps: Annotated[Count, Field(ge=1, le=32)]
    """Warps that meet there, of all roles together."""
    wait: bool = True
    """bar.sync; otherwise bar.arrive, which counts and goes on."""


class OnBarrier(Schedule):
    """An op on a barrier declared under `barriers`."""

    barrier: Name
    """A name under `barriers`."""


class Arrival(OnBarrier):
    """An arrival at a declared barrier."""

    cluster: bool = False
    """Arrive at the barrier of each CTA of the cluster, its own as well (mbarrier.arrive.shared::cluster). `arrivals`
    of the barrier count those of all CTAs."""


class Expect(OnBarrier):
    """Arrive and announce bytes."""

    bytes: Size
    """Bytes that must arrive until the phase is complete."""


class PhaseWait(OnBarrier):
    """Wait for a phase of a declared barrier; by default phase number = tile number."""

    phase: Annotated[Count, Field(ge=0, le=1_000_000)] | None = None
    """Number of the phase, from 0; default: the tile's number."""
    lag: Annotated[Count, Field(ge=0, le=64)] = 0
    """Wait for the phase of the tile `lag` tiles earlier; a negative phase never blocks."""


class Registers(Schedule):
    """setmaxnreg."""

    registers: Annotated[Count, Field(ge=24, le=256, multiple_of=8)]
    """Registers per thread, from here on."""
