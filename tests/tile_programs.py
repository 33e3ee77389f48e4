"""The smallest pipelines there are, one per way of copying, with every part adjustable.

On the `textbook` profile a copy of ``tile_bytes`` takes L = tile_bytes / (32 B/cycle) and ``ffma``
instructions of one warp on its own scheduler take C = ffma cycles of 1 ns; barriers are free.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

import numpy as np

from gpusim.hardware import DeviceProfile, load_profile, simulate_kernel
from gpusim.program import (
    Acquire,
    CommitGroup,
    Compute,
    CpAsync,
    KernelProgram,
    Load,
    Mix,
    Op,
    Release,
    Ring,
    Role,
    StoreShared,
    SyncThreads,
    TmaLoad,
    WaitFull,
    WaitGroup,
)
from gpusim.scenario.technique import Technique
from gpusim.timeline import Timeline

NS = 1e-9
RING = "input"
TECHNIQUES = ("sync_tile", "cp_async_multistage", "tma_warp_specialized")


def technique(name: str) -> Technique:
    """One of `TECHNIQUES`, without asking what else is installed."""
    return import_module(f"realkernels.{name}").TECHNIQUE


def textbook(**overrides: object) -> DeviceProfile:
    """The textbook device; ``__`` in a name stands for the dot: ``tma__l2_latency="100 cycles"``."""
    return load_profile("textbook", {name.replace("__", "."): value for name, value in overrides.items()})


def kernel(*roles: Role, tiles: int = 1, grid: int = 1, **more: object) -> KernelProgram:
    """A program of these roles on one CTA of one tile, unless told otherwise."""
    return KernelProgram(name="test", grid=grid, tiles_per_cta=tiles, roles=roles, **more)


def one_role(*ops: Op, warps: int = 1, **more: object) -> KernelProgram:
    """A program whose one role executes ``ops`` once."""
    return kernel(Role("worker", warps, lambda _tiles: iter(ops)), **more)


def total_ns(program: KernelProgram, profile: DeviceProfile | None = None, **options: object) -> float:
    """Nanoseconds the program takes; cycles of the textbook device."""
    options.setdefault("exact", True)
    return simulate_kernel(program, profile or textbook(), trace=False, **options).total_s / NS


def without_launch_s(program: KernelProgram, profile: DeviceProfile) -> float:
    """Seconds the program takes, what the launch and its events take left out."""
    meta = simulate_kernel(program, profile, trace=False).meta
    return meta["total_s"] - meta["launch_s"]


def tma_ring(
    stages: int, *, tile_bytes: int = 4096, ffma: float = 128, warps: int = 4, tiles: int = 40, grid: int = 1
) -> KernelProgram:
    """One producer warp with bulk copies, ``warps`` consumers."""

    def producer(count: int) -> Iterator[Op]:
        for tile in range(count):
            yield Acquire(RING, tile=tile)
            yield TmaLoad(RING, tile_bytes, tile=tile)

    def consumer(count: int) -> Iterator[Op]:
        for tile in range(count):
            yield WaitFull(RING, tile=tile)
            yield Compute(Mix(ffma=ffma), tile=tile, reads=RING)
            yield Release(RING, tile=tile)

    return kernel(
        Role("producer", 1, producer), Role("consumer", warps, consumer), tiles=tiles, grid=grid,
        rings=(Ring(RING, stages, tile_bytes, empty_arrivals=warps),), shared_bytes=stages * tile_bytes,
    )  # fmt: skip


def cp_async_ring(
    stages: int, *, tile_bytes: int = 4096, ffma: float = 128, warps: int = 4, tiles: int = 40, grid: int = 1
) -> KernelProgram:
    """Every warp copies its share ``stages`` - 1 tiles ahead and computes."""
    ahead = stages - 1

    def worker(count: int) -> Iterator[Op]:
        def issue(tile: int) -> Iterator[Op]:
            if tile < count:
                yield CpAsync(RING, tile_bytes, tile=tile)
            yield CommitGroup(tile=tile if tile < count else -1)

        for tile in range(ahead):
            yield from issue(tile)
        for tile in range(count):
            if not ahead:
                yield from issue(tile)
            yield WaitGroup(max(ahead - 1, 0), tile=tile)
            yield SyncThreads(tile=tile)
            if ahead:
                yield from issue(tile + ahead)
            yield Compute(Mix(ffma=ffma), tile=tile, reads=RING)
            if not ahead:
                yield SyncThreads(tile=tile)

    return kernel(
        Role("worker", warps, worker), tiles=tiles, grid=grid,
        rings=(Ring(RING, stages, tile_bytes),), shared_bytes=stages * tile_bytes,
    )  # fmt: skip


def sync_loop(
    *, tile_bytes: int = 4096, ffma: float = 128, warps: int = 4, tiles: int = 40, grid: int = 1
) -> KernelProgram:
    """Every warp loads its share through registers, meets the others, computes, meets them again."""

    def worker(count: int) -> Iterator[Op]:
        for tile in range(count):
            yield Load(tile_bytes, tile=tile)
            yield StoreShared(tile_bytes, tile=tile)
            yield SyncThreads(tile=tile)
            yield Compute(Mix(ffma=ffma), tile=tile)
            yield SyncThreads(tile=tile)

    return kernel(Role("worker", warps, worker), tiles=tiles, grid=grid, shared_bytes=tile_bytes)


def padded(program: KernelProgram, ctas_per_sm: int) -> KernelProgram:
    """The program with so much shared memory that ``ctas_per_sm`` CTAs fit on a Hopper SM."""
    share = 228 * 1024 // ctas_per_sm - 1024
    return replace(program, shared_bytes=max(program.shared_bytes, min(share // 128 * 128, 227 * 1024)))


def warp_lanes(timeline: Timeline) -> dict[str, np.ndarray]:
    """Indices of the intervals of each lane that belongs to warps: those of roles, not of stages and units."""
    units = ("[", ".tma", ".lsu", ".store", ".hbm")
    chosen = {}
    for number, lane in enumerate(timeline.lanes):
        role = lane.split(".", 2)[2] if lane.count(".") >= 2 and ".cta[" in lane else ""
        if role and not role.startswith(RING) and not any(lane.endswith(unit) for unit in units):
            chosen[lane] = np.flatnonzero(timeline.lane == number)
    return chosen
