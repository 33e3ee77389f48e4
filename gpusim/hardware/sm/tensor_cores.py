"""What groups of wgmma take of an SM: its tensor cores, its shared memory, and the registers of its schedulers.

Models: a product takes as long as its columns do, or as bringing its operands from shared memory, whichever is longer;
  groups of products are worked off in the order in which they were asked for, by the tensor cores of all four
  schedulers, of which each takes in so many products ahead: a warp is through with issuing when the last of its own has
  been taken in. Accumulators are read from and written back to registers: other warps get on more slowly meanwhile, and
  products, too, if those leave no slot free.
Omits: that groups which are asked for at the same time take turns, product by product, until the first is through; that
  the next wgmma waits longer where another warp issues FFMAs without a pause (by 110 cycles, 380 if two do).
Source: realkernels.microbench (wgmma, waiting_products).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from gpusim.engine import Capacity, Event, FluidSystem, Simulation
from gpusim.hardware.folding.warp_groups import WarpGroup
from gpusim.hardware.memory.load_request import Origin
from gpusim.hardware.profile import DeviceProfile
from gpusim.program import Wgmma
from gpusim.program.tensor_ops import BYTES_DEEP
from gpusim.program.warpgroups import WARPGROUP
from gpusim.timeline import Recorder

__all__ = ["TensorCores"]

ISSUE_PART = 0.75
"""Part of a scheduler's slots that products take while they are worked on. Beside exponentials, which want one in
eight, they lose nothing; beside FFMAs, which want all, they lose half, and FFMAs get as many as they (`wgmma`)."""


class _Asked(NamedTuple):
    """A group of products that warps have asked for."""

    op: Wgmma
    group: WarpGroup
    origin: Origin
    done: Event


class TensorCores:
    """Tensor cores of one SM, which work off groups of products, on schedulers of each class in the order of asking."""

    def __init__(
        self,
        sim: Simulation,
        profile: DeviceProfile,
        fluid: FluidSystem,
        issue: Sequence[Capacity],
        cores: Sequence[Capacity],
        shared_memory: Capacity,
        lane: str,
        trace: Recorder | None,
    ) -> None:
        """``issue`` and ``cores``: the slots and the tensor core of a scheduler, by class.

        What they work on goes into ``trace`` on ``lane``. Every warpgroup has warps on all schedulers, so that those of
        the first class stand for all.
        """
        self._sim, self._fluid = sim, fluid
        self._issue, self._cores, self._shared_memory = issue, cores, shared_memory
        self._lane, self._trace = lane, trace
        self._drawn = -1
        """Index of the last interval on ``lane``."""
        self.asked: list[deque[_Asked]] = [deque() for _ in cores]
        """What is worked on and what waits for that, the oldest first, by class of schedulers."""
        value = profile.value
        self.others_rate = value("tensor.others_rate")
        """Part of their rate with which other warps get on beside products."""
        self._clock = profile.clock_hz
        self._columns = value("tensor.wgmma_columns")
        self._first_operand = value("tensor.wgmma_first_operand")
        self._least = value("tensor.wgmma_least")
        self._group = value("tensor.wgmma_group")
        self._ahead = value("tensor.wgmma_ahead")
        self._asked_cycles = [0.0] * len(cores)
        """What all products so far take, by class of schedulers."""
        self._bytes_per_cycle = value("sm.shared_bandwidth")

    def ask(self, op: Wgmma, group: WarpGroup, origin: Origin) -> tuple[Event, float]:
        """``group``, a warpgroup or its warps on some schedulers, asks for products.

        Returns their end, and what `taken_in` wants to know. The event's value is the index of their interval, or of
        the last one that there is on the lane; -1 without a timeline.
        """
        place = group.scheduler_class
        asked = _Asked(op, group, origin, self._sim.event())
        self._asked_cycles[place] += self._cycles(op) * group.per_scheduler
        queue = self.asked[place]
        queue.append(asked)
        if len(queue) == 1:
            self._work_on(queue, origin.cause)
        return asked.done, self._asked_cycles[place]

    def taken_in(self, op: Wgmma, group: WarpGroup, asked_cycles: float) -> Event | None:
        """When there is room for the last of the products of ``op``; None if there is by now.

        ``asked_cycles``: of all that its schedulers had been asked for with these.
        """
        done_cycles = self._fluid.used(self._cores[group.scheduler_class])
        before = asked_cycles - done_cycles - self._ahead * self._cycles(op) / op.count
        if before <= 0.0:
            return None
        room = self._sim.event()
        self._sim.succeed_after(room, before / self._clock)
        return room

    def _cycles(self, op: Wgmma) -> float:
        """What the products of ``op`` take the tensor core of a scheduler, asked for by one warp."""
        second = op.n * BYTES_DEEP / self._bytes_per_cycle
        operands = second + (self._first_operand if op.a == "shared" else 0.0)
        return op.count * max(op.n / self._columns, operands, self._least) + self._group

    def _work_on(self, queue: deque[_Asked], cause: int = -1) -> None:
        """Begin with the first of ``queue``; ``cause``: why now, unless it is that the one before is done."""
        op, group, origin, done = queue[0]
        start_s = self._sim.now
        cycles = self._cycles(op)
        # Each warp of the warpgroup brings its part; the first operand keeps no other traffic from shared memory.
        data = group.schedulers * op.count * op.n * BYTES_DEEP / self._bytes_per_cycle / WARPGROUP
        place = group.scheduler_class
        uses = [(self._cores[place], 1.0), (self._issue[place], ISSUE_PART), (self._shared_memory, data / cycles)]

        def worked_off(_event: Event) -> None:
            queue.popleft()
            if self._trace is not None and place == 0:
                self._drawn = self._trace(
                    self._lane, "product", start_s, self._sim.now, tile=origin.tile, stage=origin.stage, cause=cause
                )
            done.succeed(self._drawn)
            if queue:
                self._work_on(queue)

        # The amount is the cycles of one scheduler's tensor core.
        self._fluid.start(cycles * group.per_scheduler, uses, bound=self._clock).callbacks.append(worked_off)
