"""How long placed blocks stay: as long as alone, or longer beside others that want the same.

Models: HBM's time, which kernels, copies and memsets within the device share: when they want more than there is, all
  blocks are slowed down by the same factor. Kernels that state their work are also bound by the FP32 pipes of the SMs
  they are on. Kernel programs take of HBM what they take alone, and of the device what as many as find room get from it
  together. With ``copy.d2d_enough`` of its blocks a copy within the device has its full rate, with fewer
  proportionally less. While HBM is full a copy to or from the host waits for what kernels have asked for.
Omits: issue slots, L2 and shared memory, which blocks of different kernels take from each other.
Source: realkernels.microbench.host (copies: copy_beside); realkernels.microbench (copies_beside).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

from gpusim.engine import Capacity, Event, FluidSystem, Simulation
from gpusim.hardware.profile import DeviceProfile
from gpusim.hardware.sm.following import Following
from gpusim.host.device.hbm_time import hbm_seconds
from gpusim.program import WARP_SIZE
from gpusim.program.host import FixedCost, RooflineCost

__all__ = ["BlockTimes", "Cost", "Course", "Placed", "SimulatedCost", "TransferCost"]


@dataclass(frozen=True, slots=True)
class Course:
    """A kernel program beside the kernels before and behind it, in seconds from its first block on.

    It takes ``seconds``; its first warp waits for the kernel ahead at ``waits_s``; the next one may begin at
    ``dependents_s``.
    """

    seconds: float
    waits_s: float
    dependents_s: float


@dataclass(frozen=True, slots=True)
class SimulatedCost:
    """The cost of a kernel whose warps were simulated: ``seconds`` alone on the device, ``hbm_seconds`` of HBM's time.

    Beside as many of its kind as find room the device does ``per_second`` of them altogether. ``course`` tells how it
    goes if the kernel ahead is over so many seconds after its begin, and the next one, if any, has begun by then; None:
    it has nothing to do with these.
    """

    seconds: float
    hbm_seconds: float
    per_second: float = inf
    course: Callable[[float, Following | None], Course] | None = None


@dataclass(frozen=True, slots=True)
class TransferCost:
    """The cost of a copy or a memset within the device.

    Behind ``overhead_s`` it takes ``seconds`` alone on the device, and ``hbm_seconds`` of HBM's time.
    """

    overhead_s: float
    seconds: float
    hbm_seconds: float


_FULL = 0.9
"""Utilisation of HBM from which what it is asked for queues; up to 0.85 a copy loses hardly anything."""
_UNDER_WAY = 32
"""Bytes that a thread has asked for at a time: two vectors. Nothing that a host program says of a kernel tells."""

Cost = FixedCost | RooflineCost | SimulatedCost | TransferCost


@dataclass(frozen=True, slots=True)
class Placed:
    """``count`` blocks of a ``grid`` that were placed together, on ``sms`` SMs.

    ``crowd``: as many blocks of the grid as find room when it is alone. ``first``, ``last``: none was placed before,
    none is left. ``threads``: of each. ``rounds``: so many times others like them follow in their places.
    """

    cost: Cost
    grid: int
    crowd: int
    count: int
    sms: int
    first: bool
    last: bool
    threads: int
    rounds: int = 1


class BlockTimes:
    """What the blocks on a device share."""

    def __init__(self, sim: Simulation, profile: DeviceProfile) -> None:
        value = profile.value
        self._sim = sim
        self._fluid = FluidSystem(sim)
        self._sms = int(value("sm.count"))
        self._interval_s, self._restart_s = value("launch.cta_interval"), profile.seconds_of("cta.restart")
        self._least_s = value("launch.least")
        self._flop_per_sm = 2 * WARP_SIZE * value("sm.schedulers") * value("sm.ffma_issue_rate") * profile.clock_hz
        # Units are seconds: of HBM's time, of what copies do alone, of what the device does of kernel programs.
        self._hbm, self._copies, self._programs = (Capacity(name, 1.0) for name in ("hbm", "copies", "programs"))
        self._profile = profile
        self._enough = value("copy.d2d_enough")
        self._wait_s = value("hbm.copy_waits") * _UNDER_WAY / value("hbm.read_bandwidth")
        """What each thread that waits for HBM adds to a copy."""
        self._threads = 0
        """Of blocks under way that use HBM."""

    def copy_waits_s(self) -> float:
        """How much longer a copy from or to the host takes that begins now, because HBM is full."""
        return self._wait_s * self._threads if self._hbm.used_rate > _FULL else 0.0

    def run(self, placed: Placed, ended: Callable[[], None]) -> None:
        """Call ``ended`` when the blocks are over, from now on, after all their rounds."""
        cost = placed.cost
        dispatch_s = self.dispatch_s(placed)
        if isinstance(cost, FixedCost):
            self._after(placed.rounds * self.fixed_s(placed, cost), ended)
        elif isinstance(cost, SimulatedCost):
            self._after(dispatch_s, lambda: self._simulated(cost, placed, ended))
        elif isinstance(cost, TransferCost):
            self._transfer(cost, placed, ended)
        elif cost.flop or cost.bytes:
            self._roofline(cost, placed, ended)
        else:
            self._after(placed.rounds * dispatch_s, ended)

    def fixed_s(self, placed: Placed, cost: FixedCost) -> float:
        """How long one round of blocks takes that last equally long whatever else runs."""
        return self.dispatch_s(placed) + max(cost.seconds, self._least_s)

    def part(self, placed: Placed, part: float, ended: Callable[[], None], before_s: float) -> None:
        """Call ``ended`` when a part, 0..1, of the cost of one round is over, of blocks that began ``before_s`` ago."""
        cost = placed.cost
        if isinstance(cost, FixedCost):
            self._after(part * max(cost.seconds, self._least_s - before_s), ended)
        elif isinstance(cost, SimulatedCost):
            self.part_of_program(placed, part * cost.seconds, cost.seconds, ended)
        elif cost.flop or cost.bytes:
            self._roofline(cost, replace(placed, rounds=1), ended, part)
        else:
            ended()

    def part_of_program(self, placed: Placed, seconds: float, left_s: float, ended: Callable[[], None]) -> None:
        """Likewise after ``seconds`` of the ``left_s`` in which a kernel program, alone, does all of its work."""
        cost, part = placed.cost, placed.count / placed.grid * seconds / left_s if left_s else 0.0
        uses = [(self._programs, part / cost.per_second), (self._hbm, part * cost.hbm_seconds)]
        if seconds > 0.0:
            self._share(placed, seconds, uses, 1.0, ended)
        else:
            ended()

    def dispatch_s(self, placed: Placed) -> float:
        """The slot is free for the next block a moment after this one has ended."""
        return self._interval_s * placed.count + self._restart_s

    def _after(self, seconds: float, then: Callable[[], None]) -> None:
        self._sim.call_after(seconds, lambda _event: then())

    def _simulated(self, cost: SimulatedCost, placed: Placed, ended: Callable[[], None]) -> None:
        """As quick as alone, until others want the same SMs or HBM."""
        share = placed.count / placed.grid
        uses = [(self._programs, share / cost.per_second), (self._hbm, share * cost.hbm_seconds)]
        self._share(placed, max(cost.seconds, self._least_s), uses, 1.0, ended)

    def _roofline(self, cost: RooflineCost, placed: Placed, ended: Callable[[], None], part: float = 1.0) -> None:
        share = part * placed.count / placed.grid
        flop_s = cost.flop / self._flop_per_sm
        hbm_s = hbm_seconds(self._profile, cost.bytes - cost.writes, cost.writes)
        alone_s = part * max(flop_s / min(placed.grid, self._sms), hbm_s) * placed.crowd / placed.grid
        bound = alone_s * placed.sms / (flop_s * share) if flop_s else inf
        self._share(placed, alone_s, [(self._hbm, share * hbm_s)], bound, ended)

    def _transfer(self, cost: TransferCost, placed: Placed, ended: Callable[[], None]) -> None:
        """The overhead comes once, with the first blocks."""
        share = placed.count / placed.grid
        uses = [(self._copies, share * cost.seconds), (self._hbm, share * cost.hbm_seconds)]
        # The last few have room to be slow in only here: real blocks are smaller, and many more.
        bound = 1.0 / self._enough if self._enough and not placed.last else inf
        alone_s = cost.seconds * placed.crowd / placed.grid
        if placed.first:
            begin_s = cost.overhead_s + self._restart_s
            self._after(begin_s, lambda: self._share(placed, alone_s, uses, bound, ended))
        else:
            self._share(placed, alone_s, uses, bound, ended)

    def _share(
        self,
        placed: Placed,
        alone_s: float,
        seconds: list[tuple[Capacity, float]],
        bound: float,
        ended: Callable[[], None],
    ) -> None:
        """Work off blocks that take ``alone_s`` when all that find room are of their kind, at most ``bound`` as fast.

        ``seconds`` is what they use altogether in one round.
        """
        uses = [(capacity, used / alone_s) for capacity, used in seconds if used]
        threads = placed.count * placed.threads if any(capacity is self._hbm for capacity, _ in uses) else 0
        self._threads += threads

        def over(_event: Event) -> None:
            self._threads -= threads
            ended()

        self._fluid.start(placed.rounds * alone_s, uses, bound=bound).callbacks.append(over)
