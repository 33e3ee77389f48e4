"""The next kernel of a stream on the SMs of the one that is simulated, from its begin until it waits for that one.

Models: the CTAs of its first wave, which take issue slots, copy units and memory as any others.
Omits: what it does besides waiting once it has come to its wait; that it may not find room on all SMs at once.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpusim.hardware.folding.warp_groups import WarpGroup, group_warps
from gpusim.hardware.sm.cta import Cta, Parts
from gpusim.hardware.sm.warp import WarpLane
from gpusim.program import CpAsync, GridDependencyWait, KernelProgram, Load, TmaLoad

if TYPE_CHECKING:
    from gpusim.hardware.sm.sm import Sm

__all__ = ["Following", "FollowingWork", "asks_ahead", "follow"]


@dataclass(frozen=True)
class Following:
    """``program`` begins ``begins_s`` after the kernel that is simulated."""

    program: KernelProgram
    begins_s: float


@dataclass(frozen=True)
class FollowingWork:
    """What each SM gets of it."""

    following: Following
    parts: Parts
    groups: list[list[WarpGroup]]

    @staticmethod
    def of(following: Following, resident: int, schedulers: int, classes: int, sms: int) -> FollowingWork:
        """``resident``: CTAs that an SM holds. Warps are counted to one of the ``classes`` that schedulers have."""
        program = following.program
        slots = min(resident, -(-program.grid // sms))
        groups, _ = group_warps(program, slots, schedulers, sms)
        known = [
            [replace(each, scheduler_class=min(each.scheduler_class, classes - 1)) for each in cta] for cta in groups
        ]
        return FollowingWork(following, Parts.of(program), known)


def asks_ahead(program: KernelProgram) -> bool:
    """Whether warps ask memory for something before they wait for the kernel ahead."""
    for role in program.roles:
        for op in role.body(program.fewest_tiles):
            if isinstance(op, GridDependencyWait):
                break
            if isinstance(op, TmaLoad | CpAsync | Load):
                return True
    return False


def follow(sm: Sm, work: FollowingWork) -> Generator:
    """The process that begins the CTAs of the next kernel on an SM."""
    sim, program = sm.sim, work.following.program
    yield sim.timeout(work.following.begins_s)
    sm.memory.behind.meet()
    for slot, groups in enumerate(work.groups):
        tiles = program.tiles_of(min(slot, program.grid - 1))
        cta = Cta(sim, program, work.parts, groups, f"{sm.name}.next[{slot}]", tiles, slot)
        for group in groups:
            lane = WarpLane(sm, cta, group, 0.0)
            # Where they wait for each other for good, as for what comes behind the wait, nobody waits for them.
            sim.unwatched.add(lane.lane)
            lane.trace = None
            sim.process(_until_it_waits(lane, work.parts))


def _until_it_waits(lane: WarpLane, parts: Parts) -> Generator:
    for op in parts.ops(lane.role, lane.cta.tiles):
        if isinstance(op, GridDependencyWait):
            return
        yield from lane.handlers[type(op)](lane, op)
