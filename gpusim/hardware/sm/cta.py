"""One resident CTA: its rings, barriers and lanes.

Models: mbarriers with arrival and transaction counts and phases; ring stages and what they
  hold, so that a stage overwritten while it is read, or read before it is full, is found.
Source: PTX ISA (mbarrier); CUTLASS pipeline documentation for the ring protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import inf

from gpusim.engine import CountingBarrier, PhasedBarrier, Simulation
from gpusim.errors import HazardError
from gpusim.hardware.folding.shape import stride_of
from gpusim.hardware.folding.warp_groups import WarpGroup
from gpusim.hardware.memory import jitter
from gpusim.program import (
    Arrive,
    ClusterSync,
    ExpectTx,
    KernelProgram,
    LoadCluster,
    Op,
    ProducerCommit,
    Release,
    Ring,
    Role,
    SyncThreads,
    TmaLoad,
)
from gpusim.program.missing_arrivals import MissingArrivals
from gpusim.program.op_sample import OpSample
from gpusim.program.remedies import Remedies

__all__ = ["LISTED_TILES", "Cta", "Parts", "RingState"]


_ROUNDING = 1e-6
"""Relative error of a sum of parts."""
LISTED_TILES = 2000
"""Tiles of a CTA up to which its ops are kept."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Which roles fill each ring, free it, and arrive on each named mbarrier; and the ops of their CTAs."""

    fills: dict[str, set[str]]
    frees: dict[str, set[str]]
    arrives: dict[str, set[str]]
    in_cluster: set[str]
    """Rings whose copies all CTAs of the cluster get, or whose stages they load from each other."""
    listed: dict[tuple[str, int], tuple[Op, ...]]
    """Ops by role and number of tiles, filled as CTAs ask for them (`ops`)."""
    turn: int
    """Tiles after which the pseudo-random lateness of loads repeats (`gpusim.hardware.memory.jitter`)."""
    left_out: int
    """Tiles of each CTA that a shortened run leaves out; 0 in a full run."""
    remedies: Remedies
    missing: MissingArrivals

    @staticmethod
    def of(program: KernelProgram, left_out: int = 0) -> Parts:
        """The parts of ``program``, found by listing the ops of a CTA with two tiles, or with a turn of them."""
        sample = OpSample(program)
        told = Remedies(program, sample), MissingArrivals(program, sample)
        parts = Parts({}, {}, {}, set(), {}, stride_of(program), left_out, *told)
        for role in program.roles:
            for op in program.sample(role):
                if isinstance(op, TmaLoad | ProducerCommit):
                    parts.fills.setdefault(op.ring, set()).add(role.name)
                    if isinstance(op, TmaLoad) and op.multicast:
                        parts.in_cluster.add(op.ring)
                elif isinstance(op, LoadCluster) and op.reads:
                    parts.in_cluster.add(op.reads)
                elif isinstance(op, Release):
                    parts.frees.setdefault(op.ring, set()).add(role.name)
                elif isinstance(op, Arrive | ExpectTx):
                    parts.arrives.setdefault(op.barrier, set()).add(role.name)
        return parts

    def ops(self, role: Role, tiles: int) -> Iterable[Op]:
        """The ops of ``role`` in a CTA with ``tiles`` tiles: listed once for all CTAs and groups of warps."""
        if tiles > LISTED_TILES:
            return role.body(tiles)
        key = role.name, tiles
        found = self.listed.get(key)
        if found is None:
            found = self.listed[key] = tuple(role.body(tiles))
        return found


class _Held:
    """What each stage of a ring holds; of a private ring, each stage as one lane finds it."""

    def __init__(self, stages: int) -> None:
        self.tile = [-1] * stages
        self.copied = [0.0] * stages
        self.writing: list[list[str]] = [[] for _ in range(stages)]
        """Who has copies under way."""
        self.readers: list[dict[str, int]] = [{} for _ in range(stages)]


class RingState:
    """The stages of one ring in one CTA: their full and empty barriers, and the tile each holds.

    ``cta``: lane of the CTA. ``cluster``: CTAs of a cluster.
    """

    def __init__(self, sim: Simulation, cta: str, ring: Ring, parts: Parts, cluster: int) -> None:
        name, missing = ring.name, parts.missing
        self.ring = ring
        self.among = cluster if name in parts.in_cluster else 1
        """CTAs that read the same stages, and free each together."""
        self._remedies = parts.remedies
        self.lanes = [f"{cta}.{name}[{stage}]" for stage in range(ring.stages)]

        def barriers(
            which: str, arrivals: int, roles: Mapping[str, set[str]], absent: Callable[[str], str]
        ) -> list[PhasedBarrier]:
            """A barrier for each stage, on which ``roles`` arrive; ``absent`` tells what to add if they do not."""
            satisfiers, hint = _lanes(cta, roles, name), partial(absent, name)
            return [PhasedBarrier(sim, f"{lane} {which} barrier", arrivals, satisfiers, hint) for lane in self.lanes]

        self.full = barriers("full", ring.full_arrivals, parts.fills, missing.unfilled)
        self.empty = barriers("empty", ring.empty_arrivals, parts.frees, missing.unreleased)
        self._held: dict[str, _Held] = {}

    def stage(self, tile: int) -> int:
        """The stage that ``tile`` uses."""
        return tile % self.ring.stages

    def _of(self, lane: str) -> _Held:
        """What ``lane`` finds in the ring."""
        whose = lane if self.ring.private else ""
        if whose not in self._held:
            self._held[whose] = _Held(self.ring.stages)
        return self._held[whose]

    def begin_write(self, lane: str, tile: int, copied: float = 0.0) -> None:
        """``lane`` begins to write ``tile`` into its stage, a copy of ``copied`` bytes perhaps.

        Raises HazardError while the stage is read, or if copies bring more of a tile than a stage holds.
        """
        stage, held = self.stage(tile), self._of(lane)
        if held.readers[stage]:
            reader, old = next(iter(held.readers[stage].items()))
            raise HazardError(
                role=lane, ring=self.ring.name, stage=stage, tile=tile,
                what=f"stage overwritten while {reader} still reads tile {old}",
                remedy=self._remedies.overwritten(self.ring, lane, reader)
                or "let the producer acquire the stage (wait for its release) before it copies",
            )  # fmt: skip
        held.copied[stage] = copied + (held.copied[stage] if held.tile[stage] == tile else 0.0)
        if held.copied[stage] > self.ring.bytes * (1.0 + _ROUNDING):
            raise HazardError(
                role=lane, ring=self.ring.name, stage=stage, tile=tile,
                what=f"copies bring {held.copied[stage]:.0f} bytes of one tile to a stage of {self.ring.bytes}",
                remedy="copy each tile once, or say of each part how many bytes it has; an op with `ahead` runs for "
                "the first tiles too, before the loop",
            )  # fmt: skip
        held.tile[stage] = tile
        held.writing[stage].append(lane)

    def end_write(self, lane: str, tile: int) -> None:
        """A copy of ``lane`` has arrived."""
        self._of(lane).writing[self.stage(tile)].remove(lane)

    def begin_read(self, lane: str, tile: int) -> None:
        """``lane`` reads ``tile``. Raises HazardError if the stage does not hold it whole."""
        stage, held = self.stage(tile), self._of(lane)
        other, writers = held.tile[stage], held.writing[stage]
        if other != tile:
            raise HazardError(
                role=lane, ring=self.ring.name, stage=stage, tile=tile,
                what=f"stage read although it holds {'nothing' if other < 0 else f'tile {other}'}",
                remedy=self._remedies.another_tile(self.ring, lane, tile, later=other > tile),
            )  # fmt: skip
        if writers:
            raise HazardError(
                role=lane, ring=self.ring.name, stage=stage, tile=tile,
                what="stage read while its copy is still in flight",
                remedy=self._remedies.in_flight(self.ring, lane, writers, tile),
            )  # fmt: skip
        held.readers[stage][lane] = tile

    def remedy_for_skipped(self, barrier: PhasedBarrier) -> str:
        """What to change where ``barrier`` of a stage has passed a phase that a lane still waits for; "" if unknown."""
        return self._remedies.skipped(self.ring, freed=barrier in self.empty)

    def end_read(self, lane: str, tile: int) -> None:
        """``lane`` has finished reading ``tile``."""
        self._of(lane).readers[self.stage(tile)].pop(lane, None)


class Cta:
    """The shared state of one CTA in slot ``lane`` (``sm[0].cta[1]``) with ``tiles`` tiles to do.

    ``age``: its number among all CTAs of its SM, in the order in which they start. ``part``: fraction, 0..1, of the SMs
    that its SM stands for which run this CTA at all; the last CTA of a grid need not be on each of them.
    """

    def __init__(
        self,
        sim: Simulation,
        program: KernelProgram,
        parts: Parts,
        groups: list[WarpGroup],
        lane: str,
        tiles: int,
        age: int,
        part: float = 1.0,
    ) -> None:
        self._sim = sim
        self.age = age
        self.part = part
        self.parts = parts
        self._late = jitter.of_loads(age, parts.turn)
        self.lane = lane
        self.loads = f"{lane}.loads"
        """The lane of loads into registers that nobody waits for yet."""
        self.tiles = tiles
        self.cluster = program.cluster
        self.left_out = parts.left_out
        """Tiles that it has in the launch, but not in this run."""
        self.done_s = [0.0] * tiles
        """When the last op of each tile ended."""
        self.rings = {ring.name: RingState(sim, lane, ring, parts, program.cluster) for ring in program.rings}
        self.barriers = {
            barrier.name: PhasedBarrier(
                sim,
                f"{lane}.{barrier.name}",
                barrier.arrivals,
                _lanes(lane, parts.arrives, barrier.name),
                partial(parts.missing.of_barrier, barrier.name),
            )
            for barrier in program.barriers
        }
        warps, lanes = sum(role.warps for role in program.roles), [f"{lane}.{group.lane}" for group in groups]
        meeting = parts.missing.of_meeting
        self.sync_threads = CountingBarrier(sim, f"{lane} __syncthreads", warps, lanes, partial(meeting, SyncThreads))
        self.cluster_sync = CountingBarrier(sim, f"{lane} cluster barrier", warps, lanes, partial(meeting, ClusterSync))
        self.tail = program.tail
        """How many of its last tiles lack some op of the others, as copies that run ahead do at the end."""
        self.triggered_s = inf
        """When its first warp let the next kernel begin."""
        self.waits, self.waits_per_tile = 0, 0.0
        """Loads that the lane which waited most has waited for: in all, and in a tile of the second half."""
        self.let_go_s: dict[CountingBarrier, float] = {}
        """When the last warp was released from each barrier that has been met at."""
        self._named: dict[int, CountingBarrier] = {}

    def leave_out(self, missing: int) -> None:
        """Drop the last ``missing`` tiles, none of which has begun: the run is shortened while it is under way."""
        self.tiles -= missing
        self.left_out += missing
        del self.done_s[self.tiles :]

    def late(self, tile: int, place: int) -> float:
        """How late, -1 to 1, the load in ``place`` 0, 1, … among those of ``tile`` comes from DRAM; pseudo-random."""
        return jitter.of_place(self._late, tile, place)

    def remedy_for_skipped(self, barrier: PhasedBarrier, role: str) -> str:
        """As `RingState.remedy_for_skipped`, for an mbarrier outside of rings for which ``role`` waits."""
        return self.parts.missing.remedy_for_skipped(barrier.name.removeprefix(f"{self.lane}."), role)

    def named_barrier(self, number: int, warps: int) -> CountingBarrier:
        """The barrier that ``bar.sync number`` names, made at its first use, for ``warps`` warps from now on."""
        barrier = self._named.get(number)
        if barrier is None:
            name = f"{self.lane} named barrier {number}"
            barrier = self._named[number] = CountingBarrier(self._sim, name, warps)
        barrier.meet(warps)
        return barrier


def _lanes(cta: str, roles: Mapping[str, set[str]], key: str) -> list[str]:
    """Lanes in ``cta`` of the roles listed under ``key``."""
    return [f"{cta}.{name}" for name in sorted(roles.get(key, ()))]
