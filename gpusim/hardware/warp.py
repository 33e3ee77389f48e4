"""A group of warps executing its role's ops on an SM.

Each op becomes issue slots on the schedulers, requests to the asynchronous-copy units, and
arrivals on and waits for barriers; the group's lane is tiled by what it does: work, or a
wait with its reason.

Models: issue cost and latency of each op as measured; elapsed time of arithmetic from
  the sharing of schedulers.
Omits: divergence within a warp.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING

from gpusim.engine import CountingBarrier, Event, PhasedBarrier
from gpusim.hardware.cta import Cta
from gpusim.hardware.fold import WarpGroup
from gpusim.program import (
    Acquire,
    Arrive,
    BulkWait,
    CommitGroup,
    Compute,
    CpAsync,
    ExpectTx,
    Load,
    Mix,
    NamedBarrier,
    ProducerCommit,
    Release,
    SetMaxNReg,
    Store,
    StoreShared,
    SyncThreads,
    TmaLoad,
    TmaStore,
    Wait,
    WaitFull,
    WaitGroup,
    WaitLoads,
)

if TYPE_CHECKING:
    from gpusim.hardware.sm import Sm

__all__ = ["WarpLane"]

WARP_SIZE = 32


class WarpLane:
    """The process of one `WarpGroup` in one CTA."""

    def __init__(self, sm: Sm, cta: Cta, group: WarpGroup) -> None:
        self._sm = sm
        self._sim = sm.sim
        self._cost = sm.costs
        self._cta = cta
        self._group = group
        self._role = group.role
        self._share = group.warps / group.role.warps
        """Part of the role's bytes that these warps move."""
        self.lane = f"{cta.lane}.{group.lane}"
        self._trace = sm.trace
        self._last = -1
        self.waits = 0
        """Loads this lane has waited for."""
        self._loads: list[Event] = []
        self._open: list[Event] = []
        self._groups: deque[list[Event]] = deque()
        self._stores: deque[Event] = deque()

    def run(self) -> Generator:
        """The process: every op in turn."""
        handlers = _HANDLERS
        done, env = self._cta.done_s, self._sim.env
        for op in self._role.body(self._cta.tiles):
            yield from handlers[type(op)](self, op)
            if 0 <= op.tile < len(done):
                done[op.tile] = env.now

    # -- helpers -----------------------------------------------------------------------

    def _mark(self, kind: str, start: float, reason: str, tile: int, stage: int = -1, cause: int = -1) -> None:
        if self._trace is not None and self._sim.env.now > start:
            self._last = self._trace(
                self.lane, kind, start, self._sim.env.now, reason, tile, stage, 0, cause
            )

    def _issue(self, mix: Mix) -> Event:
        return self._sm.compute(mix, self._group)

    def _spend(self, kind: str, delay: float, tile: int, stage: int = -1, reason: str = "") -> Generator:
        if delay > 0.0:
            start = self._sim.env.now
            yield self._sim.env.timeout(delay)
            self._mark(kind, start, reason, tile, stage)

    def _await(
        self, event: Event, reason: str, barrier: PhasedBarrier, tile: int, stage: int, warps: int
    ) -> Generator:
        """Wait on an mbarrier that ``warps`` warps use; it serves one of them after another."""
        env = self._sim.env
        start = env.now
        queue = warps * self._cost.mbarrier_per_warp
        if event.triggered:
            yield from self._spend("barrier", self._cost.mbarrier_poll + queue, tile, stage)
            return
        yield from self._sim.wait(event, self.lane, reason, barrier)
        if reason == "stage_empty":
            self.waits += 1
        yield env.timeout(self._cost.mbarrier_wake + queue)
        self._mark("wait", start, reason, tile, stage, barrier.cause)

    def _instructions(self, amount: float, width: int) -> float:
        """Warp instructions of one warp that move its part of ``amount`` bytes of the role."""
        return amount / (self._role.warps * WARP_SIZE * width)

    # -- arithmetic --------------------------------------------------------------------

    def _compute(self, op: Compute) -> Generator:
        start = self._sim.env.now
        ring = self._cta.rings[op.reads] if op.reads else None
        if ring is not None:
            ring.begin_read(self.lane, op.tile)
        yield self._issue(op.mix)
        if ring is not None:
            ring.end_read(self.lane, op.tile)
        self._mark("compute", start, "", op.tile, ring.stage(op.tile) if ring else -1)

    # -- loads through registers ---------------------------------------------------------

    def _load(self, op: Load) -> Generator:
        start = self._sim.env.now
        count = self._instructions(op.bytes, op.width)
        yield self._sm.issue_memory(count, op.other, op.width, self._cost.ldg_interval, self._group)
        # Each warp waits for its own lines only.
        arrival = self._sm.memory.load(
            "ldg", op.bytes * self._share, op.l2_hit, _alignment(op), op.tile, slowest_of=op.bytes / self._role.warps,
            cause=self._last,
        )
        if op.wait:
            self.waits += 1
            yield from self._sim.wait(arrival, self.lane, "copy_in_flight", _Request(self.lane))
            self._mark("load", start, "", op.tile)
        else:
            self._loads.append(arrival)
            self._mark("issue", start, "", op.tile)

    def _wait_loads(self, op: WaitLoads) -> Generator:
        start = self._sim.env.now
        for arrival in self._loads:
            if not arrival.processed:
                self.waits += 1
                yield from self._sim.wait(arrival, self.lane, "copy_in_flight", _Request(self.lane))
        self._loads.clear()
        self._mark("wait", start, "copy_in_flight", op.tile)

    def _store_shared(self, op: StoreShared) -> Generator:
        start = self._sim.env.now
        ring = self._cta.rings[op.ring] if op.ring else None
        if ring is not None:
            ring.begin_write(self.lane, op.tile)
        count = self._instructions(op.bytes, op.width)
        yield self._issue(Mix(sts=count, sts_bytes=op.width, other=op.other))
        if ring is not None:
            ring.end_write(op.tile)
        self._mark("store", start, "", op.tile)

    def _store(self, op: Store) -> Generator:
        start = self._sim.env.now
        count = self._instructions(op.bytes, op.width)
        yield self._sm.issue_memory(count, op.other, op.width, self._cost.ldg_interval, self._group)
        self._mark("store", start, "", op.tile)
        self._sm.memory.store("lsu", op.bytes * self._share, op.tile, cause=self._last)

    # -- cp.async --------------------------------------------------------------------------

    def _cp_async(self, op: CpAsync) -> Generator:
        start = self._sim.env.now
        ring = self._cta.rings[op.ring]
        stage = ring.stage(op.tile)
        ring.begin_write(self.lane, op.tile)
        count = self._instructions(op.bytes, op.width)
        yield self._sm.issue_memory(count, op.other, op.width, self._cost.cp_async_interval, self._group)
        arrival = self._sm.memory.load(
            "cp_async", op.bytes * self._share, op.l2_hit, _alignment(op), op.tile, stage, cause=self._last
        )
        self._mark("issue", start, "", op.tile, stage)
        self._landing(arrival, ring, op.tile, stage, start, op.bytes, None)
        self._open.append(arrival)

    def _landing(self, arrival, ring, tile: int, stage: int, start: float, amount: int, barrier) -> None:
        """When the copy arrives: the stage holds the tile, and its barrier counts the bytes."""
        trace, cause = self._trace, self._last

        def landed(_event: Event) -> None:
            ring.end_write(tile)
            index = -1
            if trace is not None:
                index = trace(ring.lanes[stage], "copy", start, self._sim.env.now, "", tile, stage, amount, cause)
            if barrier is not None:
                barrier.complete(amount, index)

        arrival.callbacks.append(landed)

    def _commit_group(self, op: CommitGroup) -> Generator:
        self._groups.append(self._open)
        self._open = []
        return
        yield  # pragma: no cover - makes this a generator

    def _wait_group(self, op: WaitGroup) -> Generator:
        start = self._sim.env.now
        while len(self._groups) > op.pending:
            for arrival in self._groups.popleft():
                if not arrival.processed:
                    self.waits += 1
                    yield from self._sim.wait(arrival, self.lane, "copy_in_flight", _Request(self.lane))
        self._mark("wait", start, "copy_in_flight", op.tile)

    # -- bulk copies and mbarriers -----------------------------------------------------------

    def _acquire(self, op: Acquire) -> Generator:
        ring = self._cta.rings[op.ring]
        stage = ring.stage(op.tile)
        barrier = ring.empty[stage]
        event = barrier.wait(op.tile // ring.ring.stages - 1)
        yield from self._await(
            event, "stage_full", barrier, op.tile, stage, ring.ring.empty_arrivals
        )

    def _tma_load(self, op: TmaLoad) -> Generator:
        ring = self._cta.rings[op.ring]
        stage = ring.stage(op.tile)
        ring.begin_write(self.lane, op.tile)
        env, barrier = self._sim.env, ring.full[stage]
        start = env.now
        # The thread is busy for longer than it takes until the copy unit has the request.
        yield env.timeout(self._cost.tma_submit)
        barrier.arrive(1, op.bytes, self._last)
        arrival = self._sm.memory.load(
            "tma", op.bytes, op.l2_hit, _alignment(op), op.tile, stage, cause=self._last
        )
        self._landing(arrival, ring, op.tile, stage, start, op.bytes, barrier)
        yield env.timeout(self._cost.tma_issue - self._cost.tma_submit)
        self._mark("issue", start, "", op.tile, stage)

    def _producer_commit(self, op: ProducerCommit) -> Generator:
        ring = self._cta.rings[op.ring]
        yield from self._arrive_on(ring.full[ring.stage(op.tile)], op.tile)

    def _wait_full(self, op: WaitFull) -> Generator:
        ring = self._cta.rings[op.ring]
        stage = ring.stage(op.tile)
        barrier = ring.full[stage]
        event = barrier.wait(op.tile // ring.ring.stages)
        yield from self._await(
            event, "stage_empty", barrier, op.tile, stage, ring.ring.empty_arrivals
        )

    def _release(self, op: Release) -> Generator:
        ring = self._cta.rings[op.ring]
        yield from self._arrive_on(ring.empty[ring.stage(op.tile)], op.tile)

    def _arrive(self, op: Arrive) -> Generator:
        yield from self._arrive_on(self._cta.barriers[op.barrier], op.tile)

    def _expect_tx(self, op: ExpectTx) -> Generator:
        yield from self._arrive_on(self._cta.barriers[op.barrier], op.tile, op.bytes)

    def _arrive_on(self, barrier, tile: int, expect: float = 0.0) -> Generator:
        count, cause = self._group.warps, self._last
        self._sim.call_at(self._cost.mbarrier_arrive, lambda _event: barrier.arrive(count, expect, cause))
        yield from self._spend("barrier", self._cost.mbarrier_arrive_issue, tile)

    def _wait(self, op: Wait) -> Generator:
        barrier = self._cta.barriers[op.barrier]
        yield from self._await(
            barrier.wait(op.phase), "barrier", barrier, op.tile, -1, self._group.warps
        )

    def _tma_store(self, op: TmaStore) -> Generator:
        ring = self._cta.rings[op.ring]
        stage = ring.stage(op.tile)
        start = self._sim.env.now
        ring.begin_read(f"{self.lane} (bulk store)", op.tile)
        yield self._sim.env.timeout(self._cost.tma_issue)
        self._mark("issue", start, "", op.tile, stage)
        name, trace = f"{self.lane} (bulk store)", self._trace
        done = self._sm.memory.store("tma", op.bytes, op.tile, stage, self._last)

        def source_read(_event: Event) -> None:
            ring.end_read(name, op.tile)
            if trace is not None:
                trace(ring.lanes[stage], "store", start, self._sim.env.now, "", op.tile, stage, op.bytes, -1)

        done.callbacks.append(source_read)
        self._stores.append(done)

    def _bulk_wait(self, op: BulkWait) -> Generator:
        start = self._sim.env.now
        while len(self._stores) > op.pending:
            event = self._stores.popleft()
            if not event.processed:
                yield from self._sim.wait(event, self.lane, "store_drain", _Request(self.lane))
        self._mark("wait", start, "store_drain", op.tile)

    # -- barriers of warps -------------------------------------------------------------------

    def _sync_threads(self, op: SyncThreads) -> Generator:
        yield from self._sync(self._cta.sync_threads, self._cost.sync_base, op.tile)

    def _named_barrier(self, op: NamedBarrier) -> Generator:
        barrier = self._cta.named_barrier(op.id, op.warps)
        if self.lane not in barrier.satisfiers:
            barrier.satisfiers.append(self.lane)
        yield from self._sync(barrier, self._cost.sync_base + self._cost.sync_named_extra, op.tile)

    def _sync(self, barrier: CountingBarrier, base: float, tile: int) -> Generator:
        env = self._sim.env
        start = env.now
        # The barrier takes one warp's arrival after another.
        cta, warps = self._cta, self._group.warps
        cta.arrivals_done_s = max(cta.arrivals_done_s, start) + warps * self._cost.sync_per_warp
        event = barrier.arrive(warps, self._last)
        if not event.triggered:
            yield from self._sim.wait(event, self.lane, "barrier", barrier)
            self._mark("wait", start, "barrier", tile, -1, barrier.cause)
        yield from self._spend("barrier", max(cta.arrivals_done_s - env.now, 0.0) + base, tile)

    def _set_max_nreg(self, op: SetMaxNReg) -> Generator:
        yield from self._spend("barrier", self._cost.set_max_nreg, op.tile)


def _alignment(op: Load | CpAsync | TmaLoad) -> int:
    return op.align or op.bytes & -op.bytes


class _Request:
    """A copy of the lane's own, as something to wait for; only memory can satisfy it."""

    cause = -1
    satisfiers = ("memory",)

    def __init__(self, lane: str) -> None:
        self.name = f"a copy of {lane}"


_HANDLERS = {
    Compute: WarpLane._compute,
    Load: WarpLane._load,
    WaitLoads: WarpLane._wait_loads,
    StoreShared: WarpLane._store_shared,
    Store: WarpLane._store,
    CpAsync: WarpLane._cp_async,
    CommitGroup: WarpLane._commit_group,
    WaitGroup: WarpLane._wait_group,
    Acquire: WarpLane._acquire,
    TmaLoad: WarpLane._tma_load,
    ProducerCommit: WarpLane._producer_commit,
    WaitFull: WarpLane._wait_full,
    Release: WarpLane._release,
    Arrive: WarpLane._arrive,
    ExpectTx: WarpLane._expect_tx,
    Wait: WarpLane._wait,
    TmaStore: WarpLane._tma_store,
    BulkWait: WarpLane._bulk_wait,
    SyncThreads: WarpLane._sync_threads,
    NamedBarrier: WarpLane._named_barrier,
    SetMaxNReg: WarpLane._set_max_nreg,
}
