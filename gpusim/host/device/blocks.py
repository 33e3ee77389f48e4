"""The block scheduler: which blocks of which kernels are on which SMs.

Models: threads, warps, block slots, registers and shared memory of every SM; a kernel's blocks go to the SMs with
  most room; the next kernel of a priority starts placing only when all blocks of the one before are placed
  (leftover); a higher priority goes first whenever blocks end; at most ``stream.resident_grids`` grids at once.
  Blocks placed together end together (`block_times` says when), and as long as more are left than find room, others of
  the kernel follow in their places: many such rounds are one event, however many blocks there are. A kernel program
  takes the slots of its first wave for its whole simulated duration. Blocks of a programmatic launch wait for the
  kernel ahead; a kernel lets the next one begin when all its blocks have, or have ended.
Omits: preemption, clusters across kernels, equal-priority sharing by time slices.
Source: CUDA C++ Programming Guide (stream priorities; resident grids); realkernels.microbench.host (rules: sharing,
  resident).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from gpusim.engine import Event, Simulation
from gpusim.hardware.occupancy import allocated_shared, registers_of_warp, resident_ctas
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.following import Following
from gpusim.host.device.block_lives import BlockLife, BlockLives, triggers_early
from gpusim.host.device.block_times import BlockTimes, Placed
from gpusim.program import WARP_SIZE
from gpusim.program.host import FixedCost, RooflineCost, Work

__all__ = ["BlockScheduler", "Grid"]

_ROUNDS_AT_ONCE = 1000
"""Where the duration of blocks depends on others: of so many rounds to come one is gone without a look at who waits. A
higher priority waits the longer by a thousandth of the kernel."""


@dataclass(eq=False, slots=True)
class Grid:
    """A kernel that is placing blocks or has some running."""

    work: Work
    priority: int
    serial: int
    done: Event
    placed: Callable[[int], None]
    """To be told how many of its blocks have found room, each time."""
    left: int
    need: np.ndarray
    crowd: int
    """As many of its blocks as find room when it is alone."""
    triggered: Callable[[], None]
    """To be called when all its blocks have let the next kernel begin, or have ended."""
    released: Event | None
    """When its blocks no longer wait for the kernel ahead; None: they do not."""
    following: Callable[[], Following | None]
    """Which kernel has begun during this one, and at which time."""
    untriggered: int
    """Blocks that have not let it yet."""
    running: int = 0
    begun: bool = False


@dataclass(eq=False, slots=True)
class _Rounds:
    """Blocks that follow each other in the same places, ``count`` at a time, ``taken`` of them by SM."""

    grid: Grid
    taken: np.ndarray
    count: int
    rounds: int
    begin_s: float
    round_s: float
    """How long one round takes; 0 if that depends on what else runs."""
    over: bool = False
    triggered: bool = False
    """Whether its blocks have let the next kernel begin."""

    @property
    def end_s(self) -> float:
        return self.begin_s + self.rounds * self.round_s

    def to_come(self, now_s: float) -> int:
        """Blocks of its rounds that have not begun."""
        begun = max(ceil((now_s - self.begin_s) / self.round_s), 1)
        return max(self.rounds - begun, 0) * self.count


class BlockScheduler:
    """SM resources as a table [SM, resource] of what is free."""

    def __init__(self, sim: Simulation, profile: DeviceProfile) -> None:
        value = profile.value
        self._sim, self._profile = sim, profile
        self._sms = int(value("sm.count"))
        full = [value("sm.max_warps"), value("sm.max_ctas"), value("sm.registers"), value("sm.shared_memory")]
        self._full = np.array(full)
        self._free = np.tile(self._full, (self._sms, 1))
        self._grids_left = int(value("stream.resident_grids"))
        self._dispatch_s = value("stream.dispatch")
        self._front_free_s = 0.0
        self._waiting: list[Grid] = []
        self._serial = 0
        self._times = BlockTimes(sim, profile)
        self._lives = BlockLives(sim, self._times)
        self._scheduled = False
        self._repeating: list[_Rounds] = []
        """Rounds under way that end at times known beforehand."""

    def copy_waits_s(self) -> float:
        """How much longer a copy from or to the host takes that begins now, because HBM is full."""
        return self._times.copy_waits_s()

    def launch(
        self, work: Work, priority: int, placed: Callable[[int], None], triggered: Callable[[], None],
        released: Event | None = None, following: Callable[[], Following | None] = lambda: None,
    ) -> Event:  # fmt: skip
        """Queue a kernel; the event is the end of its last block. Raises DoesNotFit.

        ``placed`` is told how many of its blocks have found room, each time; ``triggered`` is called when the next
        kernel may begin.
        ``released``: when the kernel ahead is over, for which its blocks wait; None if it is. ``following``: see
        `BlockLife`.
        """
        fits = resident_ctas(
            self._profile,
            threads=work.threads,
            registers=work.registers,
            shared_bytes=work.shared_bytes,
            name=work.name,
        )
        self._serial += 1
        need, crowd = self._need(work, fits.ctas_per_sm), min(work.grid, fits.ctas_per_sm * self._sms)
        done, count = self._sim.event(), work.grid
        calls = placed, count, need, crowd, triggered, released, following, count
        grid = Grid(work, priority, self._serial, done, *calls)
        # One kernel after the other comes through the front end.
        arrival = max(self._sim.now, self._front_free_s)
        self._front_free_s = arrival + self._dispatch_s
        if arrival > self._sim.now:
            self._sim.call_after(arrival - self._sim.now, lambda _event: self._arrive(grid))
        else:
            self._arrive(grid)
        return grid.done

    def _arrive(self, grid: Grid) -> None:
        for rounds in [rounds for rounds in self._repeating if rounds.grid.priority > grid.priority]:
            self._cut_short(rounds)
        self._waiting.append(grid)
        self._waiting.sort(key=lambda g: (g.priority, g.serial))
        self._wake()

    def _need(self, work: Work, limit: int) -> np.ndarray:
        """What one block takes, at least a share that keeps to the exact occupancy rules."""
        warps = ceil(work.threads / WARP_SIZE)
        registers = registers_of_warp(self._profile, work.registers) * warps
        # A byte where there is nothing, which would leave room for infinitely many.
        shared = allocated_shared(self._profile, work.shared_bytes) or 1.0
        need = np.array([warps, 1.0, registers, shared])
        # Rounding inside the register file may allow fewer blocks than the sums say.
        if np.floor(self._full / need).min() > limit:
            need[2] = max(need[2], self._full[2] / limit)
        return need

    def _wake(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._sim.call_late(self._place_all)

    def _place_all(self) -> None:
        self._scheduled = False
        while self._waiting:
            head = self._waiting[0]
            if not head.begun and self._grids_left == 0:
                return
            self._place(head)
            if head.left:
                return
            self._waiting.pop(0)

    def _place(self, grid: Grid) -> None:
        """As many blocks of the head as find room, spread over the SMs with most room."""
        room = np.floor(self._free / grid.need + 1e-9).min(axis=1).astype(int)
        total = int(room.sum())
        if total <= 0:
            return
        count = min(grid.left, total)
        if count == total:
            taken = room
        else:
            # Level by level from the roomiest SMs down, ties by number.
            level = int(room.max())
            taken = np.zeros_like(room)
            left = count
            while left:
                open_sms = np.flatnonzero(room - taken >= level)
                if not len(open_sms):
                    level -= 1
                    continue
                chosen = open_sms[:left]
                taken[chosen] += 1
                left -= len(chosen)
        first = not grid.begun
        if first:
            grid.begun = True
            self._grids_left -= 1
        grid.placed(count)
        self._free -= taken[:, None] * grid.need
        grid.running += count
        sms, cost = int(np.count_nonzero(taken)), grid.work.cost
        placed = Placed(cost, grid.work.grid, grid.crowd, count, sms, first, grid.left == count, grid.work.threads)
        life = self._life(grid)
        if life is None:
            placed = replace(placed, rounds=self._rounds(grid, placed))
        grid.left -= count * placed.rounds
        round_s = self._times.fixed_s(placed, cost) if isinstance(cost, FixedCost) else 0.0
        rounds = _Rounds(grid, taken, count, placed.rounds, self._sim.now, round_s)
        if round_s and placed.rounds > 1:
            self._repeating.append(rounds)
        if life is None:
            self._times.run(placed, lambda: self._end(rounds))
        else:
            self._lives.run(placed, life, lambda: self._trigger(rounds), lambda: self._end(rounds))

    def _life(self, grid: Grid) -> BlockLife | None:
        """What blocks that are placed now do besides their cost; None if nothing."""
        work, released = grid.work, grid.released
        if released is not None and released.processed:
            released = None
        if released is None and not work.prologue_s and work.trigger >= 1.0 and not triggers_early(work.cost):
            return None
        return BlockLife(work.prologue_s, work.trigger, released, grid.following)

    def _rounds(self, grid: Grid, placed: Placed) -> int:
        """How often the blocks of the head that are ``placed`` are sure to be followed by others in the same places.

        Until then more are left than all that are on the device, so that no other kernel has its turn.
        """
        cost = grid.work.cost
        if isinstance(cost, FixedCost):
            # Those that others will be followed by are not begun either.
            to_come = sum(rounds.to_come(self._sim.now) for rounds in self._repeating if rounds.grid is grid)
            # Others may have shorter rounds, because fewer are placed at a time.
            shorter = self._times.fixed_s(replace(placed, count=1), cost) / self._times.fixed_s(placed, cost)
            return max(int(((grid.left + to_come) // grid.crowd - 2) * shorter), 1)
        once = _ROUNDS_AT_ONCE if isinstance(cost, RooflineCost) else grid.left
        return max(grid.left // grid.crowd // once, 1)

    def _cut_short(self, rounds: _Rounds) -> None:
        """End with the round under way, because a higher priority has come."""
        to_come = rounds.to_come(self._sim.now)
        if not to_come:
            return
        rounds.over = True
        self._repeating.remove(rounds)
        rounds.grid.left += to_come
        last = replace(rounds, rounds=rounds.rounds - to_come // rounds.count, over=False)
        self._sim.call_after(last.end_s - self._sim.now, lambda _event: self._end(last))

    def _trigger(self, rounds: _Rounds) -> None:
        """Its blocks let the next kernel begin, or have ended."""
        if rounds.triggered:
            return
        rounds.triggered, grid = True, rounds.grid
        grid.untriggered -= rounds.count * rounds.rounds
        if not grid.untriggered:
            grid.triggered()

    def _end(self, rounds: _Rounds) -> None:
        if rounds.over:
            return
        if rounds in self._repeating:
            self._repeating.remove(rounds)
        grid = rounds.grid
        self._trigger(rounds)
        self._free += rounds.taken[:, None] * grid.need
        grid.running -= rounds.count
        if not grid.left and not grid.running:
            self._grids_left += 1
            grid.done.succeed()
        self._wake()
