"""One resident CTA: its rings, barriers and lanes.

Models: mbarriers with arrival and transaction counts and phases; ring stages and what they
  hold, so that a stage overwritten while it is read, or read before it is full, is found.
Source: PTX ISA (mbarrier); CUTLASS pipeline documentation for the ring protocol.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpusim.engine import CountingBarrier, PhasedBarrier, Simulation
from gpusim.errors import HazardError
from gpusim.hardware import jitter
from gpusim.hardware.fold import WarpGroup
from gpusim.hardware.periodic import stride_of
from gpusim.program import Arrive, ExpectTx, KernelProgram, Op, ProducerCommit, Release, Ring, Role, TmaLoad

__all__ = ["LISTED_TILES", "Cta", "Parts", "RingState"]


_ROUNDING = 1e-6
"""Relative error of a sum of parts."""
LISTED_TILES = 2000
"""Tiles of a CTA up to which its ops are kept."""


class RingState:
    """The stages of one ring in one CTA: their barriers and the tile each holds."""

    def __init__(self, sim: Simulation, lane: str, ring: Ring, producers: list[str], consumers: list[str]) -> None:
        self.ring = ring
        self.sharing = max(ring.full_arrivals, ring.empty_arrivals)
        """Warps that use one of its mbarriers: those of the side that has more."""
        self.lanes = [f"{lane}.{ring.name}[{stage}]" for stage in range(ring.stages)]
        self.full = [PhasedBarrier(sim, f"{name} full barrier", ring.full_arrivals, producers) for name in self.lanes]
        self.empty = [
            PhasedBarrier(sim, f"{name} empty barrier", ring.empty_arrivals, consumers) for name in self.lanes
        ]
        self._tile = [-1] * ring.stages
        self._copied = [0.0] * ring.stages
        self._writing = [0] * ring.stages
        self._readers: list[dict[str, int]] = [{} for _ in range(ring.stages)]

    def stage(self, tile: int) -> int:
        """The stage that ``tile`` uses."""
        return tile % self.ring.stages

    def begin_write(self, role: str, tile: int, copied: float = 0.0) -> None:
        """Something begins to write ``tile`` into its stage, a copy of ``copied`` bytes perhaps.

        Raises HazardError while the stage is read, or if copies bring more of a tile than a stage holds.
        """
        stage = tile % self.ring.stages
        if self._readers[stage]:
            reader, old = next(iter(self._readers[stage].items()))
            raise HazardError(
                role=role, ring=self.ring.name, stage=stage, tile=tile,
                what=f"stage overwritten while {reader} still reads tile {old}",
                remedy="let the producer acquire the stage (wait for its release) before it copies",
            )  # fmt: skip
        self._copied[stage] = copied + (self._copied[stage] if self._tile[stage] == tile else 0.0)
        if self._copied[stage] > self.ring.bytes * (1.0 + _ROUNDING):
            raise HazardError(
                role=role, ring=self.ring.name, stage=stage, tile=tile,
                what=f"copies bring {self._copied[stage]:.0f} bytes of one tile to a stage of {self.ring.bytes}",
                remedy="copy each tile once: an op with `ahead` runs for the first tiles too, before the loop",
            )  # fmt: skip
        self._tile[stage] = tile
        self._writing[stage] += 1

    def end_write(self, tile: int) -> None:
        """The copy has arrived."""
        self._writing[tile % self.ring.stages] -= 1

    def begin_read(self, role: str, tile: int) -> None:
        """``role`` reads ``tile``. Raises HazardError if the stage does not hold it whole."""
        stage = tile % self.ring.stages
        if self._tile[stage] != tile:
            held = "nothing" if self._tile[stage] < 0 else f"tile {self._tile[stage]}"
            raise HazardError(
                role=role, ring=self.ring.name, stage=stage, tile=tile,
                what=f"stage read although it holds {held}",
                remedy="check the order of wait, release and acquire, and their phase",
            )  # fmt: skip
        if self._writing[stage]:
            raise HazardError(
                role=role, ring=self.ring.name, stage=stage, tile=tile,
                what="stage read while its copy is still in flight",
                remedy="wait for the full barrier (or the cp.async group) before reading",
            )  # fmt: skip
        self._readers[stage][role] = tile

    def end_read(self, role: str, tile: int) -> None:
        """``role`` has finished reading ``tile``."""
        self._readers[tile % self.ring.stages].pop(role, None)


@dataclass(frozen=True, slots=True)
class Parts:
    """Which roles fill each ring, free it, and arrive on each named mbarrier; and the ops of their CTAs."""

    fills: dict[str, set[str]]
    frees: dict[str, set[str]]
    arrives: dict[str, set[str]]
    listed: dict[tuple[str, int], tuple[Op, ...]]
    turn: int
    """Tiles after which loads are as late as before."""

    @staticmethod
    def of(program: KernelProgram) -> Parts:
        """The parts of ``program``, found by listing the ops of a CTA with two tiles, or with a turn of them."""
        parts = Parts({}, {}, {}, {}, stride_of(program))
        for role in program.roles:
            for op in role.body(max(2, program.turn)):
                if isinstance(op, TmaLoad | ProducerCommit):
                    parts.fills.setdefault(op.ring, set()).add(role.name)
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


class Cta:
    """The shared state of one CTA in slot ``lane`` (``sm[0].cta[1]``) with ``tiles`` tiles to do.

    ``age``: its number among all CTAs of its SM, in the order in which they start. ``part``: of the SMs that this one
    stands for, those that run it at all.
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
        self.done_s = [0.0] * tiles
        """When the last op of each tile ended."""
        self.rings = {
            ring.name: RingState(
                sim, lane, ring, _lanes(lane, parts.fills, ring.name), _lanes(lane, parts.frees, ring.name)
            )
            for ring in program.rings
        }
        self.barriers = {
            barrier.name: PhasedBarrier(
                sim, f"{lane}.{barrier.name}", barrier.arrivals, _lanes(lane, parts.arrives, barrier.name)
            )
            for barrier in program.barriers
        }
        warps = sum(role.warps for role in program.roles)
        self.sync_threads = CountingBarrier(
            sim, f"{lane} __syncthreads", warps, [f"{lane}.{group.lane}" for group in groups]
        )
        self.waits = self.later_waits = 0
        """Loads that the lane which waited most has waited for, in all and in the second half of its tiles."""
        self.arrivals_done_s = 0.0
        """When the barrier unit has taken all arrivals so far."""
        self._named: dict[int, CountingBarrier] = {}

    def leave_out(self, missing: int) -> None:
        """Do so many tiles less than was said before; none of those has begun."""
        self.tiles -= missing
        del self.done_s[self.tiles :]

    def late(self, tile: int) -> float:
        """How late the loads of a tile are by chance: -1 to 1."""
        return self._late[tile % len(self._late)]

    def named_barrier(self, number: int, warps: int) -> CountingBarrier:
        """The barrier of ``bar.sync number`` with ``warps`` warps."""
        barrier = self._named.get(number)
        if barrier is None:
            name = f"{self.lane} named barrier {number}"
            barrier = self._named[number] = CountingBarrier(self._sim, name, warps)
        return barrier


def _lanes(cta: str, roles: dict[str, set[str]], key: str) -> list[str]:
    return [f"{cta}.{name}" for name in sorted(roles.get(key, ()))]
