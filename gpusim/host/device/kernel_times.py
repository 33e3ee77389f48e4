"""What spelled-out kernels take on their SMs: each is simulated once, however often it is launched."""

from __future__ import annotations

from functools import partial

from gpusim.deadlock import Deadlock
from gpusim.errors import HazardError, ProgramError
from gpusim.hardware.launch.simulate import simulate_kernel
from gpusim.hardware.occupancy import occupancy, shared_memory
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.following import Following
from gpusim.host.device.block_times import SimulatedCost
from gpusim.host.device.early_kernels import EarlyKernels
from gpusim.program import KernelProgram
from gpusim.program.host import HostProgram, Launch, Work
from gpusim.timeline import Timeline

__all__ = ["KernelTimes"]

_DEPENDENTS = "dependents_s"
"""What the timeline of a kernel says that has to do with those before and behind it."""


class KernelTimes:
    """Kernels of a program on devices of one kind; ``trace``: keep their timelines."""

    def __init__(self, program: HostProgram, profile: DeviceProfile, exact: bool, trace: bool) -> None:
        self._profile, self._exact, self._trace = profile, exact, trace
        self._known: dict[int, tuple[Work, Timeline]] = {}
        self._early = EarlyKernels(profile, self._simulated)
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

    def drawn(self, kernel: KernelProgram, released_s: float, following: Following | None) -> Timeline:
        """The timeline of a kernel program, which may wait for the kernel ahead until ``released_s``."""
        alone = self._known[id(kernel)][1]
        return self._early.drawn(kernel, alone, released_s, following) if _DEPENDENTS in alone.meta else alone

    def _simulated(
        self, kernel: KernelProgram, released_s: float = 0.0, following: Following | None = None, trace: bool = True
    ) -> Timeline:
        try:
            return simulate_kernel(
                kernel, self._profile, exact=self._exact, trace=trace and self._trace, clean=False,
                released_s=released_s, following=following,
            )  # fmt: skip
        except (Deadlock, HazardError, ProgramError) as error:
            error.kernel = kernel.name
            raise

    def _cost(self, kernel: KernelProgram, timeline: Timeline, alone_s: float, beside: int) -> SimulatedCost:
        """What a kernel program takes alone, and beside as many of its kind as find room."""
        hbm_s, course = alone_s * timeline.meta["hbm_busy"], None
        if _DEPENDENTS in timeline.meta:
            course = partial(self._early.course, kernel, timeline)
        if beside < 2 or self._launches < 2 or kernel.equal_tiles is None:
            return SimulatedCost(alone_s, hbm_s, course=course)
        many = kernel.resized(grid=beside * kernel.grid)
        crowd = simulate_kernel(many, self._profile, exact=self._exact, trace=False, clean=False)
        crowd_s = crowd.total_s - self._profile.value("launch.overhead")
        return SimulatedCost(alone_s, hbm_s, beside / crowd_s, course)
