"""The block scheduler: which blocks of which kernels are on which SMs.

Models: threads, warps, block slots, registers and shared memory of every SM; a kernel's blocks go to the SMs with
  most room; the next kernel of a priority starts placing only when all blocks of the one before are placed
  (leftover); a higher priority goes first whenever blocks end; at most ``stream.resident_grids`` grids at once.
  Blocks of one cost placed together end together. A kernel program takes the slots of its first wave for its whole
  simulated duration; where several find room, they share what the device does of them at most.
Omits: preemption, clusters across kernels, equal-priority sharing by time slices.
Source: CUDA C++ Programming Guide (stream priorities; resident grids); realkernels.microbench.host (rules: sharing,
  resident).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np

from gpusim.engine import Capacity, Event, FluidSystem, Simulation
from gpusim.hardware.occupancy import resident_ctas
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import WARP_SIZE
from gpusim.program.host import FixedCost, Work

__all__ = ["BlockScheduler", "Grid", "SimulatedCost"]


@dataclass(frozen=True, slots=True)
class SimulatedCost:
    """The cost of a kernel whose warps were simulated: ``seconds`` alone on the device.

    Beside as many of its kind as find room the device does ``per_second`` of them altogether.
    """

    seconds: float
    per_second: float


@dataclass(eq=False, slots=True)
class Grid:
    """A kernel that is placing blocks or has some running."""

    work: Work
    priority: int
    serial: int
    done: Event
    started: Callable[[], None]
    left: int
    running: int = 0
    need: np.ndarray | None = None
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
        self._interval_s = value("launch.cta_interval")
        self._restart_s = profile.cycles("cta.restart")
        self._dispatch_s, self._least_s = value("stream.dispatch"), value("launch.least")
        self._front_free_s = 0.0
        self._waiting: list[Grid] = []
        self._serial = 0
        self._fluid = FluidSystem(sim)
        clock = profile.clock_hz
        self._flop_per_sm = 2 * WARP_SIZE * value("sm.schedulers") * value("sm.ffma_issue_rate") * clock
        self._hbm = Capacity("hbm", value("hbm.read_bandwidth"))
        self._programs = Capacity("programs", 1.0)
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
        grid = Grid(work, priority, self._serial, self._sim.event(), started, work.grid)
        grid.need = self._need(work, fits.ctas_per_sm)
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
        value = self._profile.value
        warps = ceil(work.threads / WARP_SIZE)
        unit = value("sm.register_allocation_unit")
        schedulers = int(value("sm.schedulers"))
        registers = ceil(work.registers * WARP_SIZE / unit) * unit * (ceil(warps / schedulers) * schedulers)
        shared_unit = value("sm.shared_allocation_unit")
        shared = ceil((work.shared_bytes + value("cta.reserved_shared_memory")) / shared_unit) * shared_unit
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
        if not grid.begun:
            grid.begun = True
            self._grids_left -= 1
            grid.started()
        self._free -= taken[:, None] * grid.need
        grid.left -= count
        grid.running += count
        self._run(grid, taken, count)

    def _run(self, grid: Grid, taken: np.ndarray, count: int) -> None:
        cost = grid.work.cost
        # The slot is free for the next block a moment after this one has ended.
        dispatch_s = self._interval_s * count + self._restart_s
        if isinstance(cost, FixedCost):
            self._sim.call_at(
                dispatch_s + max(cost.seconds, self._least_s), lambda _event: self._end(grid, taken, count)
            )
            return
        if isinstance(cost, SimulatedCost):
            self._sim.call_at(dispatch_s, lambda _event: self._simulated(cost, grid, taken, count))
            return
        share = count / grid.work.grid
        sms = int(np.count_nonzero(taken))
        flop, moved = cost.flop * share, cost.bytes * share
        uses = [(self._hbm, moved)] if moved else []
        bound = sms * self._flop_per_sm / flop if flop else float("inf")
        if not flop and not moved:
            self._sim.call_at(dispatch_s, lambda _event: self._end(grid, taken, count))
            return
        self._fluid.start(1.0, uses, bound=bound).callbacks.append(lambda _event: self._end(grid, taken, count))

    def _simulated(self, cost: SimulatedCost, grid: Grid, taken: np.ndarray, count: int) -> None:
        """Blocks of a kernel program: as quick as alone, until others want the same SMs."""
        uses = [(self._programs, count / grid.work.grid / cost.per_second)]
        flow = self._fluid.start(1.0, uses, bound=1.0 / max(cost.seconds, self._least_s))
        flow.callbacks.append(lambda _event: self._end(grid, taken, count))

    def _end(self, grid: Grid, taken: np.ndarray, count: int) -> None:
        self._free += taken[:, None] * grid.need
        grid.running -= count
        if not grid.left and not grid.running:
            self._grids_left += 1
            grid.done.succeed()
        self._wake()
