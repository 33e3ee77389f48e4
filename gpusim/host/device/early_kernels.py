"""Kernel programs that begin during the kernel ahead of them and wait for it: how they go on once that is over.

Each is simulated for each time at which that may be, as far as it makes a difference: once all that it asks for before
its wait has come, it only waits. The next kernel, if it has begun by then, asks memory for things beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.following import Following, asks_ahead
from gpusim.host.device.block_times import Course
from gpusim.program import GridDependencyWait, KernelProgram
from gpusim.timeline import Timeline

__all__ = ["EarlyKernels"]

_STEP_S = 50e-9
"""Times that differ by less are one simulation."""

Simulate = Callable[[KernelProgram, float, Following | None, bool], Timeline]
"""Simulates a kernel program if the kernel ahead is over so many seconds after its begin, and the next one has begun;
whether with its intervals."""


class EarlyKernels:
    """``simulate`` does the simulations."""

    def __init__(self, profile: DeviceProfile, simulate: Simulate) -> None:
        self._overhead_s = profile.value("launch.overhead")
        self._simulate = simulate
        self._known: dict[tuple[int, int, int, int], Timeline] = {}
        self._settled_s: dict[int, float] = {}

    def course(self, kernel: KernelProgram, alone: Timeline, released_s: float, following: Following | None) -> Course:
        """How ``kernel`` goes, in seconds from its begin; ``alone``: its timeline if it need not wait."""
        waits_s = _waits_s(alone)
        if released_s <= waits_s or alone.meta["waits_late"]:
            return self._shifted(alone, waits_s, max(released_s - waits_s, 0.0))
        settled_s = self._settled(kernel, released_s)
        simulated_s = round(min(released_s, settled_s) / _STEP_S) * _STEP_S
        later_s = released_s - simulated_s
        timeline = self._released(kernel, simulated_s, self._behind(following, later_s))
        return self._shifted(timeline, waits_s, later_s)

    def _settled(self, kernel: KernelProgram, released_s: float) -> float:
        """When a kernel only waits any more, at the latest."""
        if id(kernel) not in self._settled_s and not _all_wait(kernel):
            self._settled_s[id(kernel)] = inf
        if id(kernel) not in self._settled_s:
            timeline = self._released(kernel, round(released_s / _STEP_S) * _STEP_S, None)
            self._settled_s[id(kernel)] = timeline.meta["settled_s"] or inf
        return self._settled_s[id(kernel)]

    def _released(self, kernel: KernelProgram, released_s: float, behind: Following | None) -> Timeline:
        key = (id(kernel), round(released_s / _STEP_S), *_numbers(behind))
        if key not in self._known:
            self._known[key] = self._simulate(kernel, released_s, behind, False)
        return self._known[key]

    def drawn(self, kernel: KernelProgram, alone: Timeline, released_s: float, following: Following | None) -> Timeline:
        """The timeline of ``kernel`` for that, with its intervals."""
        if released_s <= _waits_s(alone):
            return alone
        return self._simulate(kernel, released_s, following, True)

    def _behind(self, following: Following | None, later_s: float) -> Following | None:
        """The next kernel, if what it asks for may be under way still, in a simulation that begins ``later_s`` late."""
        if following is None or not asks_ahead(following.program):
            return None
        begins_s = round((following.begins_s - later_s) / _STEP_S) * _STEP_S
        return Following(following.program, begins_s) if begins_s >= 0.0 else None

    def _shifted(self, timeline: Timeline, waits_s: float, later_s: float) -> Course:
        """All behind the wait is later by what the simulation does not know of."""
        dependents_s = timeline.meta["dependents_s"]
        later_too = later_s if dependents_s > waits_s else 0.0
        return Course(timeline.total_s - self._overhead_s + later_s, waits_s, dependents_s + later_too)


def _all_wait(kernel: KernelProgram) -> bool:
    """Whether no role goes on while others wait."""
    return all(any(isinstance(op, GridDependencyWait) for op in kernel.sample(role)) for role in kernel.roles)


def _waits_s(alone: Timeline) -> float:
    waits_s = alone.meta["dependency_wait_s"]
    return inf if waits_s is None else waits_s


def _numbers(behind: Following | None) -> tuple[int, int]:
    return (id(behind.program), round(behind.begins_s / _STEP_S)) if behind is not None else (0, 0)
