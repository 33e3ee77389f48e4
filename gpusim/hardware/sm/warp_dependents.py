"""A kernel between the one ahead of it in its stream and the next one: programmatic dependent launch.

Models: warps that wait for the kernel ahead, which ends at a time that is given; when CTAs let the next kernel begin.
Omits: what the two instructions cost themselves (some 20 cycles).
Source: PTX ISA (griddepcontrol).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from gpusim.program import GridDependencyWait, LaunchDependents

if TYPE_CHECKING:
    from gpusim.hardware.sm.warp import WarpLane

__all__ = ["DEPENDENT_HANDLERS", "GridDependency"]


@dataclass(slots=True)
class GridDependency:
    """The kernel ahead: over ``released_s`` after the first CTA of this one was dispatched."""

    released_s: float = 0.0
    waited_s: float = inf
    """When the first warp came to wait for it."""
    last_s: float = 0.0
    """When the last one did that had to."""
    settled_s: float = 0.0
    """By when all had come that was asked for before the wait; 0 as long as nobody has waited."""


def grid_dependency_wait(lane: WarpLane, op: GridDependencyWait) -> Generator:
    dependency = lane.sm.dependency
    dependency.waited_s = min(dependency.waited_s, lane.sim.now)
    if dependency.released_s > lane.sim.now:
        dependency.last_s = lane.sim.now
        yield from lane.spend("wait", dependency.released_s - lane.sim.now, op.tile, reason="grid_dependency")
        if not dependency.settled_s:
            dependency.settled_s = lane.sm.memory.behind.meet()


def launch_dependents(lane: WarpLane, _op: LaunchDependents) -> Generator:
    lane.cta.triggered_s = min(lane.cta.triggered_s, lane.sim.now)
    yield from ()


DEPENDENT_HANDLERS = {GridDependencyWait: grid_dependency_wait, LaunchDependents: launch_dependents}
"""What each of these ops does."""
