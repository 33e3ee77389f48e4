"""A group of warps executing its role's ops on an SM.

Each op becomes issue slots on the schedulers, requests to the asynchronous-copy units, and arrivals on and waits for
barriers; the group's lane is tiled by what it does: work, or a wait with its reason.

Models: issue cost and latency of each op as measured; time of arithmetic from the sharing of schedulers.
Omits: divergence within a warp, other than the reconvergence that a program states.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, ClassVar

from gpusim.engine import Event
from gpusim.errors import HazardError
from gpusim.hardware.folding.warp_groups import WarpGroup
from gpusim.hardware.memory.load_request import Origin
from gpusim.hardware.memory.loaded_latency import expected_maximum
from gpusim.hardware.sm.costs import MemoryBatch, known_mix
from gpusim.hardware.sm.cta import Cta
from gpusim.hardware.sm.warp_barriers import BARRIER_HANDLERS, end
from gpusim.hardware.sm.warp_cluster import CLUSTER_HANDLERS
from gpusim.hardware.sm.warp_copies import COPY_HANDLERS
from gpusim.hardware.sm.warp_dependents import DEPENDENT_HANDLERS
from gpusim.hardware.sm.warp_hazards import check_end, found_at
from gpusim.hardware.sm.warp_loads import LOAD_HANDLERS, LoadUnderWay
from gpusim.hardware.sm.warp_products import PRODUCT_HANDLERS, WgmmaGroup
from gpusim.program import WARP_SIZE, Compute, CpAsync, Mix, Op, PartOfRole, SetMaxNReg, TimeStamp

if TYPE_CHECKING:
    from gpusim.hardware.sm.sm import Sm

__all__ = ["WarpLane"]


class WarpLane:
    """The process of one `WarpGroup` in one CTA."""

    def __init__(self, sm: Sm, cta: Cta, group: WarpGroup, begin_s: float) -> None:
        self.sm = sm
        self.sim = sm.sim
        self.cost = sm.costs
        self.cta = cta
        self.group = group
        self.role = group.role
        self.lane = f"{cta.lane}.{group.lane}"
        self.trace = sm.trace
        self._begin_s = begin_s
        """Seconds from the start of its CTA until its warps have been launched."""
        self.last_interval = -1
        """Index of the last interval on the lane, -1 before there is one or without a timeline."""
        self.waits = 0
        """Loads this lane has waited for."""
        self._waits_by_tile = [0] * cta.tiles
        """Loads it had waited for when each tile was done."""
        self.loads: deque[LoadUnderWay] = deque()
        """Loads into registers that nothing has waited for yet, the oldest first."""
        self.entering: Event | None = None
        """When the last of these loads that found L1 full gets its room there; None if all have it."""
        self.slowest_s, self.stored_s = 0.0, 0.0
        """When the slowest of its warps has what it waited for, and when their last store to another CTA is there."""
        self._owed = 0.0
        """Issue slots of instructions whose time is spent already, but whose slots other warps have not yet lost."""
        self.apart_s = 0.0
        """Seconds by which each warp of the group is behind the one before it, because they were served one by one."""
        self.late_s = 0.0
        """How much later than this lane, which stands for a typical warp, the slowest reaches the next barrier."""
        self.deviation_s = 0.0
        """Largest standard deviation so far of the latency of one of its loads."""
        self.held_until_s, self._held_tile = 0.0, -1
        """When the last barrier at which it met others releases it; until then only arithmetic goes on."""
        self.together = False
        """Whether its warps have loaded nothing from shared memory since they met."""
        self._met = 0
        """`waits` when it last met other warps."""
        self.open: list[tuple[CpAsync, Event]] = []
        """cp.async copies that belong to no group yet, with their arrival."""
        self.groups: deque[list[Event]] = deque()
        self.stores: deque[Event] = deque()
        """Bulk stores that nothing has waited for yet, the oldest first."""
        # Whether it has waited for loads since its last store; that one's tile, and whether such waits part its stores.
        self.waited, self.split = False, (-1, False)
        self.products: deque[WgmmaGroup] = deque()
        """Groups of wgmma that nothing has waited for yet, the oldest first."""
        self.copied: tuple[str, int] | None = None
        """Ring and tile of the last bulk load."""
        self._loaded, self._place = -1, 0
        """Tile of the load counted last, and how many of this tile came before it."""
        self._step: tuple[TimeStamp, float] | None = None
        """The last time stamp, and when it was taken; from the first one on the lane shows no more than stamps do."""

    def run(self) -> Generator:
        """The process: every op in turn."""
        handlers = self.handlers
        done, sim = self.cta.done_s, self.sim
        yield from self.spend("wait", self._begin_s, -1, reason="launch")
        begun = 0
        try:
            for begun, op in enumerate(self.sm.ops(self.role, self.cta), start=1):  # noqa: B007 - told where one fails
                if self.held_until_s > sim.now and not _passes(op):
                    yield from self.leave_barrier()
                yield from handlers[type(op)](self, op)
                if 0 <= op.tile < len(done):
                    done[op.tile] = sim.now
                    self._waits_by_tile[op.tile] = self.waits
        except HazardError as error:
            raise found_at(self, error, begun) from None
        yield from self.leave_barrier()
        # Its CTA ends with the slowest warp.
        yield from self.spend("wait", self.fall_behind(), -1, reason="copy_in_flight")
        self._next_step()
        check_end(self)
        end(self)

    @property
    def waits_per_tile(self) -> float:
        """Mean number of loads it waited for per tile in the second half of its tiles, the tail left aside."""
        tiles, tail = self.cta.tiles, self.cta.tail
        if not tiles:
            return float(self.waits)
        half, end = tiles // 2, tiles - 1 - tail
        waits = max(self._waits_by_tile[: end + 1], default=0) if tail else self.waits
        return max(waits - self._waits_by_tile[half], 0) / max(end - half, 1)

    # -- helpers -----------------------------------------------------------------------

    def mark(self, kind: str, start: float, tile: int, stage: int = -1, *, reason: str = "", cause: int = -1) -> None:
        """Put what lasted from ``start`` until now on the lane."""
        if self.trace is not None and self._step is None and self.sim.now > start:
            self.last_interval = self.trace(
                self.lane, kind, start, self.sim.now, reason=reason, tile=tile, stage=stage, cause=cause
            )

    def issue(self, mix: Mix, spread_s: float = 0.0) -> Event:
        """Execute ``mix`` on every warp of the group, the last of which begins ``spread_s`` after the first."""
        together, self.together = self.together, self.together and not mix.lds
        owed = self._settle()
        return self._issuing(self.sm.compute(mix, self.group, self.cta.age, self.apart_s, owed, together, spread_s))

    def issue_code(self, count: float) -> Event:
        """Execute ``count`` instructions that wait for each other."""
        return self.issue(known_mix(setup=count))

    def issue_memory(self, batch: MemoryBatch) -> Event:
        """Issue ``batch`` on every warp of the group."""
        return self._issuing(self.sm.issue_memory(batch, self.group, self.cta.age, self.apart_s))

    def owe(self, slots: float) -> None:
        """Let instructions whose time has been spent take their issue slots together with the warps' next `issue`."""
        self._owed += slots

    def _settle(self) -> float:
        owed, self._owed = self._owed, 0.0
        return owed

    def _issuing(self, found: tuple[Event, float]) -> Event:
        event, self.apart_s = found
        return event

    def spend(self, kind: str, delay: float, tile: int, stage: int = -1, reason: str = "") -> Generator:
        """Be busy for ``delay`` seconds."""
        if delay > 0.0:
            start = self.sim.now
            yield self.sim.timeout(delay)
            self.mark(kind, start, tile, stage, reason=reason)

    def hold(self, until_s: float, tile: int) -> None:
        """Its warps have met at a barrier in ``tile``: until ``until_s`` they may do nothing but arithmetic."""
        self.held_until_s, self._held_tile = until_s, tile
        self.together = True

    def leave_barrier(self) -> Generator:
        """Wait until the last barrier has let the warps go."""
        yield from self.spend("barrier", self.held_until_s - self.sim.now, self._held_tile)

    def reach_shared_memory(self) -> Generator:
        """Wait until the warps' own loads have room in L1: the load-store unit serves shared memory after these."""
        entering, self.entering = self.entering, None
        if entering is not None and not entering.processed:
            yield entering

    def executes(self, op: PartOfRole) -> bool:
        """Whether these warps are among those that execute ``op``."""
        return op.warps is None or self.group.first < op.warps

    def among(self, op: PartOfRole) -> int:
        """How many warps execute ``op``."""
        return op.warps or self.role.warps

    def share(self, op: PartOfRole) -> float:
        """Fraction of the bytes of ``op`` that these warps move."""
        return self.group.warps / self.among(op)

    def instructions(self, op: PartOfRole) -> float:
        """Warp instructions with which one warp moves its part of the bytes of ``op``."""
        return op.bytes / (self.among(op) * WARP_SIZE * op.width)

    def draw_lateness(self, tile: int) -> float:
        """Count one more load of ``tile``: how late, -1 to 1, it comes from DRAM; pseudo-random, differs by group."""
        self._place = self._place + 1 if tile == self._loaded else 0
        self._loaded = tile
        return self.cta.late(tile, self._place + self.group.apart)

    def last_load_hits(self, chance: float) -> bool:
        """Whether the load counted last finds all its lines in L1, which happens with probability ``chance``.

        Pseudo-random, and the same in every run.
        """
        place = self._place + self.group.apart + 1
        return chance > 0.0 and 0.5 * (self.cta.late(self._loaded, place) + 1.0) < chance

    def fall_behind(self) -> float:
        """Seconds by which the slowest warp reaches a barrier after this lane, a typical warp; counted anew from there.

        Warps that do not meet from load to load move apart in a random walk: by the root of the number of loads.
        """
        late_s, group = self.late_s, self.group
        if group.loose and group.typical:
            waits = self.waits - self._met + self._left_out()
            late_s = max(late_s, expected_maximum(self.role.warps) * self.deviation_s * waits**0.5)
        self.late_s, self._met = 0.0, self.waits
        return late_s

    def _left_out(self) -> float:
        """Loads it would have waited for in tiles that a shortened run leaves out; 0 until its last tile is done."""
        cta = self.cta
        if not cta.left_out or cta.tiles < 2 or not self._waits_by_tile[cta.tiles - 1]:
            return 0.0
        return cta.left_out * self.waits_per_tile

    def origin(self, tile: int, stage: int = -1) -> Origin:
        """What a request to memory that these warps make now says of who asks."""
        return Origin(self.cta.lane, tile, stage, self.cta.part, self.last_interval, self.trace is not None)

    # -- ops --------------------------------------------------------------------------

    def _compute(self, op: Compute) -> Generator:
        if not self.executes(op):
            return
        start, spread_s = self.sim.now, 0.0
        ring = self.cta.rings[op.reads] if op.reads else None
        if ring is not None:
            ring.begin_read(self.lane, op.tile)
        if op.mix.lds:
            yield from self.reach_shared_memory()
            # The first warps multiply as soon as they have fragments, not when the last have some.
            queue = self.sm.memory.queue
            behind_s, spread_s = queue.own_wait_s(self.cta.age) if op.mix.mma else (queue.wait_s(), 0.0)
            if behind_s > 0.0:
                yield self.sim.timeout(behind_s)
        yield self.issue(op.mix, spread_s)
        if ring is not None:
            ring.end_read(self.lane, op.tile)
        self.mark("compute", start, op.tile, ring.stage(op.tile) if ring else -1)

    def _time_stamp(self, op: TimeStamp) -> Generator:
        # The clock is read before all else that a stamp takes, but for a look whether to write.
        if not op.looks:
            self._next_step(op)
        yield self.sim.timeout(self.cost.time_stamp_s)
        yield self.issue(known_mix(interleaved=self.cost.time_stamp_slots))
        if op.looks:
            self._next_step(op)

    def _next_step(self, op: TimeStamp | None = None) -> None:
        step, self._step = self._step, None
        if step is not None:
            self.mark(step[0].kind, step[1], step[0].tile)
        self._step = op and (op, self.sim.now)

    def _set_max_nreg(self, op: SetMaxNReg) -> Generator:
        yield from self.spend("barrier", self.cost.set_max_nreg_s, op.tile)

    handlers: ClassVar[dict[type[Op], Callable[[WarpLane, Any], Generator]]] = {
        **LOAD_HANDLERS,
        **COPY_HANDLERS,
        **BARRIER_HANDLERS,
        **CLUSTER_HANDLERS,
        **PRODUCT_HANDLERS,
        **DEPENDENT_HANDLERS,
        Compute: _compute,
        TimeStamp: _time_stamp,
        SetMaxNReg: _set_max_nreg,
    }
    """What each op does."""


def _passes(op: Op) -> bool:
    """Whether a warp goes on with ``op`` before a barrier has let it go: arithmetic, but no branches around a loop."""
    return isinstance(op, Compute) and not op.mix.shared_turns and op.mix.setup < op.mix.issue_slots
