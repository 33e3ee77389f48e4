"""What spelled-out kernels take on their SMs: each is simulated once, however often it is launched.

One that began during the kernel ahead and waits for it is simulated again for each time at which that one is over.
"""

from __future__ import annotations

from functools import partial
from math import inf

from gpusim.deadlock import Deadlock
from gpusim.errors import HazardError, ProgramError
from gpusim.hardware.launch.simulate import simulate_kernel
from gpusim.hardware.occupancy import occupancy, shared_memory
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.device.block_times import Course, SimulatedCost
from gpusim.program import KernelProgram
from gpusim.program.host import HostProgram, Launch, Work
from gpusim.timeline import Timeline

__all__ = ["KernelTimes"]

_STEP_S = 50e-9
"""Ends of the kernel ahead that differ by less are one simulation; the rest of the difference is a shift."""


class KernelTimes:
    """Kernels of a program on devices of one kind; ``trace``: keep their timelines."""

    def __init__(self, program: HostProgram, profile: DeviceProfile, exact: bool, trace: bool) -> None:
        self._profile, self._exact, self._trace = profile, exact, trace
        self._known: dict[int, tuple[Work, Timeline]] = {}
        self._released: dict[tuple[int, int], Timeline] = {}
        self._launches = sum(isinstance(op, Launch) for thread in program.threads for op in thread.ops)

    def work(self, kernel: Work | KernelProgram) -> tuple[Work, Timeline | None]:
        """A kernel program as its first wave's slots for its simulated duration."""
        if isinstance(kernel, Work):
            return kernel, None
        known = self._known.get(id(kernel))
        if known is None:
            profile = self._profile
            fits = occupancy(kernel, profile)
            timeline = self._simulated(kernel)
            duration = timeline.total_s - profile.value("launch.overhead")
            room = fits.ctas_per_sm * int(profile.value("sm.count"))
            wave = min(kernel.grid, room)
            work = Work(
                self._cost(kernel, timeline, duration, room // kernel.grid),
                wave,
                kernel.threads,
                kernel.registers,
                shared_memory(kernel, profile),
                kernel.name,
            )
            known = self._known[id(kernel)] = (work, timeline)
        return known

    def released(self, kernel: KernelProgram, released_s: float) -> Timeline:
        """A kernel program if the kernel ahead, during which it began, is over after ``released_s``."""
        alone = self._known[id(kernel)][1]
        waits_s = alone.meta["dependency_wait_s"]
        if waits_s is None or alone.meta["waits_late"] or released_s <= waits_s:
            return alone
        key = id(kernel), round(released_s / _STEP_S)
        if key not in self._released:
            self._released[key] = self._simulated(kernel, key[1] * _STEP_S)
        return self._released[key]

    def _simulated(self, kernel: KernelProgram, released_s: float = 0.0) -> Timeline:
        try:
            return simulate_kernel(
                kernel, self._profile, exact=self._exact, trace=self._trace, clean=False, released_s=released_s
            )
        except (Deadlock, HazardError, ProgramError) as error:
            error.kernel = kernel.name
            raise

    def _course(self, kernel: KernelProgram, released_s: float) -> Course:
        timeline, alone = self.released(kernel, released_s), self._known[id(kernel)][1]
        meta, took_s = timeline.meta, timeline.total_s - self._profile.value("launch.overhead")
        waits_s = inf if meta["dependency_wait_s"] is None else meta["dependency_wait_s"]
        # All that comes behind the wait is later by what the simulation does not know of.
        simulated_s = round(released_s / _STEP_S) * _STEP_S
        later_s = max(released_s - waits_s, 0.0) if timeline is alone else released_s - simulated_s
        dependents_s = meta["dependents_s"]
        return Course(took_s + later_s, waits_s, dependents_s + (later_s if dependents_s > waits_s else 0.0))

    def _cost(self, kernel: KernelProgram, timeline: Timeline, alone_s: float, beside: int) -> SimulatedCost:
        """What a kernel program takes alone, and beside as many of its kind as find room."""
        hbm_s, course = alone_s * timeline.meta["hbm_busy"], None
        if "dependents_s" in timeline.meta:
            course = partial(self._course, kernel)
        if beside < 2 or self._launches < 2 or kernel.equal_tiles is None:
            return SimulatedCost(alone_s, hbm_s, course=course)
        many = kernel.resized(grid=beside * kernel.grid)
        crowd = simulate_kernel(many, self._profile, exact=self._exact, trace=False, clean=False)
        crowd_s = crowd.total_s - self._profile.value("launch.overhead")
        return SimulatedCost(alone_s, hbm_s, beside / crowd_s, course)
