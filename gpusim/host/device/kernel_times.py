"""What spelled-out kernels take on their SMs: each is simulated once, however often it is launched."""

from __future__ import annotations

from gpusim.deadlock import Deadlock
from gpusim.errors import HazardError, ProgramError
from gpusim.hardware.launch.simulate import simulate_kernel
from gpusim.hardware.occupancy import occupancy, shared_memory
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.device.block_times import SimulatedCost
from gpusim.program import KernelProgram
from gpusim.program.host import HostProgram, Launch, Work
from gpusim.timeline import Timeline

__all__ = ["KernelTimes"]


class KernelTimes:
    """Kernels of a program on devices of one kind; ``trace``: keep their timelines."""

    def __init__(self, program: HostProgram, profile: DeviceProfile, exact: bool, trace: bool) -> None:
        self._profile, self._exact, self._trace = profile, exact, trace
        self._known: dict[int, tuple[Work, Timeline]] = {}
        self._launches = sum(isinstance(op, Launch) for thread in program.threads for op in thread.ops)

    def work(self, kernel: Work | KernelProgram) -> tuple[Work, Timeline | None]:
        """A kernel program as its first wave's slots for its simulated duration."""
        if isinstance(kernel, Work):
            return kernel, None
        known = self._known.get(id(kernel))
        if known is None:
            profile = self._profile
            fits = occupancy(kernel, profile)
            try:
                timeline = simulate_kernel(kernel, profile, exact=self._exact, trace=self._trace, clean=False)
            except (Deadlock, HazardError, ProgramError) as error:
                error.kernel = kernel.name
                raise
            duration = timeline.total_s - profile.value("launch.overhead")
            room = fits.ctas_per_sm * int(profile.value("sm.count"))
            wave = min(kernel.grid, room)
            work = Work(
                self._cost(kernel, duration, duration * timeline.meta["hbm_busy"], room // kernel.grid),
                wave,
                kernel.threads,
                kernel.registers,
                shared_memory(kernel, profile),
                kernel.name,
            )
            known = self._known[id(kernel)] = (work, timeline)
        return known

    def _cost(self, kernel: KernelProgram, alone_s: float, hbm_s: float, beside: int) -> SimulatedCost:
        """What a kernel program takes alone, and beside as many of its kind as find room."""
        if beside < 2 or self._launches < 2 or kernel.equal_tiles is None:
            return SimulatedCost(alone_s, hbm_s)
        many = kernel.resized(grid=beside * kernel.grid)
        crowd = simulate_kernel(many, self._profile, exact=self._exact, trace=False, clean=False)
        return SimulatedCost(alone_s, hbm_s, beside / (crowd.total_s - self._profile.value("launch.overhead")))
