"""A whole pipeline of each kind, from which a test leaves out one part, and what running it must end with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpusim.deadlock import Deadlock
from gpusim.errors import HazardError
from gpusim.hardware import simulate_kernel
from gpusim.program import (
    Acquire,
    CommitGroup,
    Compute,
    CpAsync,
    KernelProgram,
    Load,
    Mix,
    Op,
    ProducerCommit,
    Release,
    Ring,
    Role,
    StoreShared,
    SyncThreads,
    TmaLoad,
    WaitFull,
    WaitGroup,
)
from tests.tile_programs import RING, kernel, textbook

SIZE = 4096
TILES = 8
WARPS = 4


def ring_kernel(producer, consumer, stages=2, **fields):
    """One producer warp, four consumers, a ring of two stages."""
    ring = Ring(RING, stages, SIZE, **{"empty_arrivals": WARPS, **fields})
    roles = Role("producer", 1, producer), Role("consumer", WARPS, consumer)
    return kernel(*roles, tiles=TILES, rings=(ring,), shared_bytes=stages * SIZE)


def producer(acquire=True):
    """Bulk copies; without ``acquire`` nobody asks whether the stage is free."""

    def body(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            if acquire:
                yield Acquire(RING, tile=tile)
            yield TmaLoad(RING, SIZE, tile=tile)

    return body


def writer(commit=True):
    """A producer that writes the stage itself."""

    def body(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            yield Acquire(RING, tile=tile)
            yield Load(SIZE, tile=tile)
            yield StoreShared(SIZE, ring=RING, tile=tile)
            if commit:
                yield ProducerCommit(RING, tile=tile)

    return body


def consumer(wait=True, release=True, ffma=128, shift=0):
    """Waits for tile + ``shift``, computes on tile, gives it back."""

    def body(tiles: int) -> Iterator[Op]:
        for tile in range(tiles):
            if wait:
                yield WaitFull(RING, tile=tile + shift)
            yield Compute(Mix(ffma=ffma), tile=tile, reads=RING)
            if release:
                yield Release(RING, tile=tile)

    return body


def worker(commit=True, wait=True, sync=True, pending=0, ahead=1, ffma=100):
    """A double buffer of cp.async with one of its parts left out."""

    def body(tiles: int) -> Iterator[Op]:
        def issue(tile: int) -> Iterator[Op]:
            if tile < tiles:
                yield CpAsync(RING, SIZE, tile=tile)
            if commit:
                yield CommitGroup(tile=tile)

        for tile in range(ahead):
            yield from issue(tile)
        for tile in range(tiles):
            if wait:
                yield WaitGroup(pending, tile=tile)
            if sync:
                yield SyncThreads(tile=tile)
            yield from issue(tile + ahead)
            yield Compute(Mix(ffma=ffma), tile=tile, reads=RING)

    return kernel(Role("worker", WARPS, body), tiles=TILES, rings=(Ring(RING, 2, SIZE),), shared_bytes=2 * SIZE)


def run(program: KernelProgram):
    """Simulate every tile on the textbook device."""
    return simulate_kernel(program, textbook(), exact=True)


def deadlock(program: KernelProgram) -> Deadlock:
    """The deadlock that running the program ends with."""
    with pytest.raises(Deadlock) as caught:
        run(program)
    return caught.value


def hazard(program: KernelProgram) -> HazardError:
    """The hazard that running the program ends with; its message names everything it knows."""
    with pytest.raises(HazardError) as caught:
        run(program)
    error = caught.value
    for part in (error.role, repr(error.ring), f"stage {error.stage}", f"tile {error.tile}", error.remedy):
        assert part in str(error)
    return error


def blocked(error: Deadlock, role: str):
    """The blocked lane of a role."""
    return next(entry for entry in error.blocked if entry.lane.split(".")[2] == role)
