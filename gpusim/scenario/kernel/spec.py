"""A spelled-out kernel of a scenario file as a `KernelProgram`.

The op list of a role becomes a `TileLoop`, a plain value that yields the role's ops for
any number of tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from math import lcm
from typing import Any

from gpusim import program as ops
from gpusim.program import KernelProgram, Mix, Op, Ring, Role
from gpusim.program.sass import LOADS
from gpusim.scenario.kernel.access_schema import StageRelease
from gpusim.scenario.kernel.op_lists import as_run, as_written
from gpusim.scenario.kernel.op_makers import ArrivalMaker, LateMaker, Maker, PhaseMaker, stage_of
from gpusim.scenario.kernel.op_schema import REPEAT
from gpusim.scenario.kernel.schema import PARTS, RoleSpec, SpelledKernel, TileTotal

__all__ = ["Step", "TileLoop", "build_kernel", "fill_arrivals", "free_arrivals", "tile_loop", "turn_of"]

MBARRIER_BYTES = 8  # PTX ISA: an mbarrier object is 64 bits


@dataclass(frozen=True, slots=True)
class Step:
    """One op of a list: ``make(tile)``, run ``ahead`` tiles early or for one fixed ``tile``.

    ``every``, ``offset``: for which tiles of the loop; not for the first ``skip_first`` and the last ``skip_last`` of
    the CTA. ``instead``: what stands in its place there, and where it would be for a tile that the CTA does not have.
    """

    make: Callable[[int], Op]
    ahead: int = 0
    tile: int | None = None
    instead: Callable[[int], Op] | None = None
    every: int = 1
    offset: int = 0
    skip_first: int = 0
    skip_last: int = 0


@dataclass(frozen=True, slots=True)
class TileLoop:
    """The ops of one role of one CTA, given its number of tiles; with ``every`` those of its own tiles only."""

    prologue: tuple[Step, ...]
    before_loop: tuple[Step, ...]
    per_tile: tuple[Step, ...]
    epilogue: tuple[Step, ...]
    every: int = 1
    offset: int = 0

    def __call__(self, tiles: int) -> Iterator[Op]:
        """The ops of a CTA with ``tiles`` tiles to do."""
        yield from _once(self.prologue, tiles, default=self.offset)
        lead = max((step.ahead for step in self.per_tile), default=0)
        for iteration in range(-lead, tiles):
            if not iteration:
                yield from _once(self.before_loop, tiles, default=self.offset)
            for step in self.per_tile:
                tile = iteration + step.ahead
                # Only ops ahead of the loop run before it starts.
                if tile < 0 or tile % self.every != self.offset or tile % step.every != step.offset:
                    continue
                # What it leaves out there the prologue has done, if anybody.
                if iteration < 0 and tile < step.skip_first:
                    continue
                make = step.make if step.skip_first <= tile < tiles - step.skip_last else step.instead
                if make is not None:
                    yield make(tile)
        if not tiles:
            yield from _once(self.before_loop, tiles, default=self.offset)
        last = tiles - 1 - (tiles - 1 - self.offset) % self.every
        yield from _once(self.epilogue, tiles, default=max(last, -1))


def _once(steps: tuple[Step, ...], tiles: int, default: int) -> Iterator[Op]:
    for step in steps:
        tile = default if step.tile is None else step.tile + (tiles if step.tile < 0 else 0)
        if step.tile is None or 0 <= tile < tiles:
            yield step.make(tile)


def build_kernel(kernel: SpelledKernel) -> KernelProgram:
    """The program of a kernel whose names have been checked (`check`).

    Arrival counts that are left out follow from the roles: a stage is free when every
    warp of every role that waits for its tile has released it. So a role that waits and
    forgets to release stops the pipeline, as it would on the device.
    """
    rings = tuple(_ring(kernel, name) for name in kernel.rings)
    barriers = tuple(
        ops.Barrier(stage_of(name, spec.stages, stage), spec.arrivals)
        for name, spec in kernel.barriers.items()
        for stage in range(spec.stages)
    )
    guarded = _words_on_rings(kernel, ("acquire", "tma_load", "wait", "release", "producer_commit"))
    mbarriers = sum(2 * ring.stages for ring in rings if ring.name in guarded) + len(barriers)
    tiles = kernel.tiles_per_cta
    if isinstance(tiles, TileTotal):
        tiles = tiles.dealt(kernel.grid)
    return KernelProgram(
        name=kernel.name,
        grid=kernel.grid,
        tiles_per_cta=tiles[0] if len(tiles) == 1 else tuple(tiles),
        roles=tuple(Role(name, role.warps, tile_loop(kernel, role)) for name, role in kernel.roles.items()),
        rings=rings,
        barriers=barriers,
        shared_bytes=sum(ring.stages * ring.bytes for ring in rings) + MBARRIER_BYTES * mbarriers + kernel.shared_bytes,
        registers=kernel.registers,
        cluster=kernel.cluster,
        idle_warps=kernel.idle_warps,
        footprint_bytes=kernel.footprint,
        turn=turn_of(kernel),
        head=max((_skip_first(spec) for spec in _tile_specs(kernel)), default=0),
        tail=max((spec.skip_last for spec in _tile_specs(kernel)), default=0),
    )


def _ring(kernel: SpelledKernel, name: str) -> Ring:
    spec = kernel.rings[name]
    return Ring(
        name=name,
        stages=spec.stages,
        bytes=spec.bytes,
        full_arrivals=spec.full_arrivals or max(*fill_arrivals(kernel, name), 1),
        empty_arrivals=spec.empty_arrivals or max(*free_arrivals(kernel, name), 1),
        private=spec.private,
    )


def turn_of(kernel: SpelledKernel) -> int:
    """Tiles after which all roles do the same again: 1 unless some take turns, or an op is not for every tile."""
    return lcm(*(role.every for role in kernel.roles.values()), *(spec.every for spec in _tile_specs(kernel)))


def _tile_specs(kernel: SpelledKernel) -> Iterator[Any]:
    lists = (as_written(role.per_tile) for role in kernel.roles.values())
    return (spec for steps in lists for _, word, spec in steps if word != REPEAT)


def fill_arrivals(kernel: SpelledKernel, ring: str) -> list[int]:
    """Arrivals that fill a stage of ``ring``, for each tile of a turn: one per tma_load, one per committing warp."""
    copies = {
        name: sum(word == "tma_load" and spec.ring == ring for _, word, spec in as_run(role.per_tile))
        for name, role in kernel.roles.items()
    }
    own = _warps_with(kernel, "producer_commit", ring)
    return [
        sum(copies[name] for name, role in kernel.roles.items() if tile % role.every == role.offset) + by_warps
        for tile, by_warps in enumerate(own)
    ]


def free_arrivals(kernel: SpelledKernel, ring: str) -> list[int]:
    """Warps that wait for a stage of ``ring``, for each tile of a turn.

    Of one that CTAs of a cluster load from each other the warps that do: they wait for others to tell them.
    """
    from_peers = any(ring in _uses(role, ("load_cluster",)) for role in kernel.roles.values())
    return _warps_with(kernel, "load_cluster" if from_peers else "wait", ring)


def _uses(role: RoleSpec, words: tuple[str, ...]) -> set[str]:
    found = as_written([step for part in PARTS for step in getattr(role, part)])
    names = (getattr(spec, "ring", None) or getattr(spec, "reads", None) for _, word, spec in found if word in words)
    return {name for name in names if name}


def _warps_with(kernel: SpelledKernel, word: str, ring: str) -> list[int]:
    roles = [role for role in kernel.roles.values() if ring in _uses(role, (word,))]
    return [sum(role.warps for role in roles if tile % role.every == role.offset) for tile in range(turn_of(kernel))]


def _words_on_rings(kernel: SpelledKernel, words: tuple[str, ...]) -> set[str]:
    return set().union(*(_uses(role, words) for role in kernel.roles.values()))


def tile_loop(kernel: SpelledKernel, role: RoleSpec) -> TileLoop:
    """The op lists of a role whose names have been checked."""
    waited = next((spec.ring for _, word, spec in as_written(role.per_tile) if word == "wait"), None)
    read = waited or (next(iter(kernel.rings)) if len(kernel.rings) == 1 else None)
    spares = any(word == "wait_loads" and spec.pending for _, word, spec in as_written(role.per_tile))
    parts = []
    for steps in (getattr(role, part) for part in PARTS):
        part = []
        for _, word, spec in as_run(steps):
            if word == "wait":
                read = spec.ring
            make = _maker(kernel, word, spec, read)
            instead, ahead = _instead(word, spec, make, spares), _ahead(kernel, spec)
            runs = spec.every, spec.offset, _skip_first(spec), spec.skip_last
            part.append(Step(make, ahead, spec.tile, instead, *runs))
        parts.append(tuple(part))
    return TileLoop(*parts, every=role.every, offset=role.offset)


def _instead(word: str, spec: Any, make: Callable[[int], Op], spares: bool) -> Callable[[int], Op] | None:
    """Copies and loads that are left out fetch nothing, but what counts them must go on counting the same ones.

    An empty group is committed, and where ``wait_loads`` spares the youngest loads, an empty load is one of them.
    """
    if word == "commit_group":
        return make
    loads = word in LOADS and not spec.wait
    return Maker(ops.Load, bytes=0, wait=False) if spares and loads else None


def _skip_first(spec: Any) -> int:
    """Tiles of the CTA before the first for which it runs; what comes late has nothing to do in the first ones."""
    return max(spec.skip_first, spec.lag if isinstance(spec, StageRelease) else 0)


def _ahead(kernel: SpelledKernel, spec: Any) -> int:
    if spec.ahead != "full":
        return spec.ahead
    name = getattr(spec, "ring", None) or next(iter(kernel.rings))
    return kernel.rings[name].stages - 1


def ring_bytes(kernel: SpelledKernel, spec: Any) -> int:
    """Bytes an op moves: its own, or those of one stage of its ring (or of the only ring)."""
    if spec.bytes is not None:
        return spec.bytes
    name = getattr(spec, "ring", None) or next(iter(kernel.rings))
    return kernel.rings[name].bytes


_OPS: dict[str, type] = {
    "acquire": ops.Acquire, "tma_load": ops.TmaLoad, "wait": ops.WaitFull,
    "load_cluster": ops.LoadCluster, "store_cluster": ops.StoreCluster,
    "load": ops.Load, "wait_loads": ops.WaitLoads, "store_shared": ops.StoreShared, "store": ops.Store,
    "atomic": ops.Atomic,
    "cp_async": ops.CpAsync, "commit_group": ops.CommitGroup, "wait_group": ops.WaitGroup,
    "producer_commit": ops.ProducerCommit, "tma_store": ops.TmaStore, "bulk_wait": ops.BulkWait,
    "sync_threads": ops.SyncThreads, "cluster_sync": ops.ClusterSync, "named_barrier": ops.NamedBarrier,
    "set_max_nreg": ops.SetMaxNReg,
    "grid_dependency_wait": ops.GridDependencyWait, "launch_dependents": ops.LaunchDependents,
    "wgmma": ops.Wgmma, "wgmma_wait": ops.WgmmaWait,
}  # fmt: skip
"""The op of each word whose fields have the names of the op's own; `_maker` builds the others."""


def _maker(kernel: SpelledKernel, word: str, spec: Any, read: str | None) -> Callable[[int], Op]:
    if word == "mbarrier_wait":
        stages = kernel.barriers[spec.barrier].stages
        return PhaseMaker(spec.barrier, stages, spec.phase, spec.lag, spec.every, spec.first_tile)
    if word in ("arrive", "expect_tx"):
        stages, amount = kernel.barriers[spec.barrier].stages, getattr(spec, "bytes", None)
        cluster = getattr(spec, "cluster", False)
        return ArrivalMaker(spec.barrier, stages, amount, spec.every, spec.first_tile, cluster)
    if word == "compute":
        implied = read if spec.lds and spec.reads is None else None
        return Maker(ops.Compute, mix=Mix(**_same(Mix, spec)), reads=spec.reads or implied, warps=spec.warps)
    if word == "release":
        return LateMaker(spec.ring, spec.lag)
    arguments = _same(_OPS[word], spec)
    if word == "wgmma":
        arguments["reads"] = (read if spec.reads is None else spec.reads) or None
    if "bytes" in arguments:
        arguments["bytes"] = ring_bytes(kernel, spec)
    if word == "store" and spec.structure:
        arguments |= {"stride": spec.structure, "completed": 1.0}
    return Maker(_OPS[word], **arguments)


def _same(kind: type, spec: Any) -> dict[str, Any]:
    """What ``spec`` says of each field of ``kind``. The tile is left out: it is known only when the op runs."""
    return {field.name: getattr(spec, field.name) for field in fields(kind) if field.name != "tile"}
