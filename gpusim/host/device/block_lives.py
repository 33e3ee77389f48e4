"""Blocks that wait for the kernel ahead of theirs, or let the next one begin before they end (programmatic launches).

Models: what a block does before it needs that kernel, its wait, and its work, at a part of which the next kernel may
  begin. A kernel program is simulated anew with the time at which the kernel ahead is over, so that roles which do not
  wait for it have got as far as they do on the device.
Omits: what the part before the wait takes of HBM from others.
Source: CUDA C++ Programming Guide (programmatic dependent launch); realkernels.microbench.host (programmatic).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from gpusim.engine import Event, Simulation
from gpusim.hardware.sm.following import Following
from gpusim.host.device.block_times import BlockTimes, Cost, Placed, SimulatedCost

__all__ = ["BlockLife", "BlockLives", "triggers_early"]

Then = Callable[[], None]


@dataclass(frozen=True, slots=True)
class BlockLife:
    """``prologue_s`` and ``trigger`` as of a `Work`; ``released``: when the kernel ahead is over, None if it is.

    ``following`` tells which kernel has begun during this one, and at which time, or None.
    """

    prologue_s: float
    trigger: float
    released: Event | None
    following: Callable[[], Following | None]


def triggers_early(cost: Cost) -> bool:
    """Whether it is a kernel program that says when it waits, or lets the next kernel begin."""
    return isinstance(cost, SimulatedCost) and cost.course is not None


class BlockLives:
    """One round of blocks at a time; ``times`` says how long their cost takes."""

    def __init__(self, sim: Simulation, times: BlockTimes) -> None:
        self._sim, self._times = sim, times

    def run(self, placed: Placed, life: BlockLife, triggered: Then, ended: Then) -> None:
        """Call ``triggered`` when the next kernel may begin as far as these blocks go, and ``ended`` when they end."""
        begin = self._simulated if triggers_early(placed.cost) else self._in_order
        self._after(self._times.dispatch_s(placed), lambda: begin(placed, life, triggered, ended))

    def _in_order(self, placed: Placed, life: BlockLife, triggered: Then, ended: Then) -> None:
        """Prologue, wait, work; a kernel program without a wait does not wait."""
        waits = not isinstance(placed.cost, SimulatedCost)
        if life.trigger < 0.0:
            triggered()

        def work() -> None:
            if not 0.0 <= life.trigger < 1.0:
                self._times.part(placed, 1.0, ended, life.prologue_s)
                return

            def rest() -> None:
                triggered()
                self._times.part(placed, 1.0 - life.trigger, ended, life.prologue_s)

            self._times.part(placed, life.trigger, rest, life.prologue_s)

        self._after(life.prologue_s, lambda: self._when(life.released if waits else None, work))

    def _simulated(self, placed: Placed, life: BlockLife, triggered: Then, ended: Then) -> None:
        """A kernel program, of whose warps some may wait and others not."""
        sim, cost = self._sim, placed.cost
        begin_s, alone = sim.now, cost.course(0.0, None)
        if alone.dependents_s <= alone.waits_s:
            self._after(alone.dependents_s, triggered)

        def go_on() -> None:
            waited_s = sim.now - begin_s
            course = cost.course(waited_s, _since(begin_s, life.following()))
            # What it takes longer than alone for other reasons comes behind.
            left_s = max(course.seconds - alone.seconds + cost.seconds - waited_s, 0.0)
            first_s = min(max(course.dependents_s - waited_s, 0.0), left_s)

            def rest() -> None:
                triggered()
                self._times.part_of_program(placed, left_s - first_s, left_s, ended)

            if alone.dependents_s <= alone.waits_s:
                self._times.part_of_program(placed, left_s, left_s, ended)
            else:
                self._times.part_of_program(placed, first_s, left_s, rest)

        self._when(life.released if isfinite(alone.waits_s) else None, go_on)

    def _after(self, seconds: float, then: Then) -> None:
        if seconds > 0.0:
            self._sim.call_after(seconds, lambda _event: then())
        else:
            then()

    def _when(self, event: Event | None, then: Then) -> None:
        if event is None or event.processed:
            then()
        else:
            event.callbacks.append(lambda _event: then())


def _since(begin_s: float, following: Following | None) -> Following | None:
    return following and Following(following.program, max(following.begins_s - begin_s, 0.0))
