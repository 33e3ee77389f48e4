"""The block scheduler: which blocks of which kernels are on which SMs.

Models: threads, warps, block slots, registers and shared memory of every SM; a kernel's blocks go to the SMs with
  most room; the next kernel of a priority starts placing only when all blocks of the one before are placed
  (leftover); a higher priority goes first whenever blocks end; at most ``stream.resident_grids`` grids at once.
  Blocks placed together end together (`block_times` says when). A kernel program takes the slots of its first wave for
  its whole simulated duration.
Omits: preemption, clusters across kernels, equal-priority sharing by time slices.
Source: CUDA C++ Programming Guide (stream priorities; resident grids); realkernels.microbench.host (rules: sharing,
  resident).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np

from gpusim.engine import Event, Simulation
from gpusim.hardware.occupancy import allocated_shared, registers_of_warp, resident_ctas
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.block_times import BlockTimes, Placed
from gpusim.program import WARP_SIZE
from gpusim.program.host import Work

__all__ = ["BlockScheduler", "Grid"]


@dataclass(eq=False, slots=True)
class Grid:
    """A kernel that is placing blocks or has some running."""

    work: Work
    priority: int
    serial: int
    done: Event
    started: Callable[[], None]
    left: int
    need: np.ndarray
    crowd: int
    """As many of its blocks as find room when it is alone."""
    running: int = 0
    begun: bool = False


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
        self._scheduled = False

    def launch(self, work: Work, priority: int, started: Callable[[], None]) -> Event:
        """Queue a kernel; the event is the end of its last block. Raises DoesNotFit."""
        fits = resident_ctas(
            self._profile,
            threads=work.threads,
            registers=work.registers,
            shared_bytes=work.shared_bytes,
            name=work.name,
        )
        self._serial += 1
        need, crowd = self._need(work, fits.ctas_per_sm), min(work.grid, fits.ctas_per_sm * self._sms)
        grid = Grid(work, priority, self._serial, self._sim.event(), started, work.grid, need, crowd)
        # One kernel after the other comes through the front end.
        arrival = max(self._sim.now, self._front_free_s)
        self._front_free_s = arrival + self._dispatch_s
        if arrival > self._sim.now:
            self._sim.call_at(arrival - self._sim.now, lambda _event: self._arrive(grid))
        else:
            self._arrive(grid)
        return grid.done

    def _arrive(self, grid: Grid) -> None:
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

    def _place_all(self, _event: Event) -> None:
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
            grid.started()
        self._free -= taken[:, None] * grid.need
        grid.left -= count
        grid.running += count
        placed = Placed(
            grid.work.cost, grid.work.grid, grid.crowd, count, int(np.count_nonzero(taken)), first, not grid.left
        )
        self._times.run(placed, lambda: self._end(grid, taken, count))

    def _end(self, grid: Grid, taken: np.ndarray, count: int) -> None:
        self._free += taken[:, None] * grid.need
        grid.running -= count
        if not grid.left and not grid.running:
            self._grids_left += 1
            grid.done.succeed()
        self._wake()
