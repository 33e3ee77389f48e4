"""Ops of a kernel that is launched before the one ahead of it has ended, and that lets the next one begin.

``tile`` is that of all ops (`gpusim.program.ops`).
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GridDependencyWait", "LaunchDependents"]


@dataclass(frozen=True, slots=True)
class GridDependencyWait:
    """``griddepcontrol.wait`` (cudaGridDependencySynchronize): until the kernel ahead is over, its writes visible."""

    tile: int = -1


@dataclass(frozen=True, slots=True)
class LaunchDependents:
    """``griddepcontrol.launch_dependents`` (cudaTriggerProgrammaticLaunchCompletion): let the next kernel begin.

    That one does when all CTAs have said so or ended. The first warp that comes here says so for its CTA.
    """

    tile: int = -1
