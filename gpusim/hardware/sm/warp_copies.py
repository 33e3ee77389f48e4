"""Asynchronous copies of a group of warps: cp.async, bulk loads and stores.

Models: the instructions that issue a copy, the request to memory, and what its arrival does to the
  ring stage and the barrier it fills.
Omits: order between the generic and the asynchronous proxy; that a wait for bulk stores lasts until they are complete
  where it asks for more than their source to be read (``read`` of `BulkWait`).
Source: PTX ISA (cp.async, cp.async.bulk); realkernels.microbench (ldg, cpasync, behind_copies, tma, tma_store, masked,
  cluster).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING

from gpusim.engine import Event, PhasedBarrier
from gpusim.hardware.memory.access import DENSE, LINE_BYTES, Passes
from gpusim.hardware.memory.alignment import Start, access_of_rows, lands_whole
from gpusim.hardware.memory.load_request import LoadRequest, there
from gpusim.hardware.sm.costs import MemoryBatch
from gpusim.hardware.sm.cta import RingState
from gpusim.program import BulkWait, CommitGroup, CpAsync, Load, TmaLoad, TmaStore, WaitGroup
from gpusim.program.remedies import BULK_STORE

if TYPE_CHECKING:
    from gpusim.hardware.sm.warp import WarpLane

__all__ = ["COPY_HANDLERS", "COPY_PARTS", "Request", "ask_late", "issue", "start_of"]

COPY_PARTS = 4
"""A load that takes more than half of L1 is simulated in parts of about a quarter of it, and a copy that finds no room
in so many parts, as one does that many lanes ask for."""
_DENSE = DENSE.passes()


def start_of(op: Load | CpAsync | TmaLoad) -> Start:
    """How the bytes of ``op`` are aligned: by its own word, else by the size of each of its copies."""
    each = op.bytes // getattr(op, "copies", 1)
    align = op.align or each & -each
    return Start(align, op.row, op.pitch or op.row) if isinstance(op, CpAsync) else Start(align)


class Request:
    """A copy of the lane's own, as something to wait for; only memory can satisfy it."""

    cause = -1
    satisfiers = ("memory",)

    def __init__(self, lane: str) -> None:
        self.name = f"a copy of {lane}"


def issue(
    lane: WarpLane, op: Load | CpAsync, path: str, count: float, other: float, masked: float, passes: Passes = _DENSE
) -> Generator:
    """``count`` instructions of each warp, no faster than the load-store unit takes them in."""
    cost = lane.cost.cp_async if path == "cp_async" else lane.cost.ldg
    taken = count * lane.group.warps * max((passes.missed + passes.wavefronts) * LINE_BYTES, 1.0)
    until_s = lane.sim.now + lane.sm.memory.take_in(path, taken, op.width, start_of(op), lane.cta.age)
    yield lane.issue_memory(MemoryBatch(count, other, masked, passes, op.width, cost))
    if until_s > lane.sim.now:
        yield lane.sim.timeout(until_s - lane.sim.now)


def _together(op: CpAsync | TmaLoad) -> float:
    """SMs of a GPC that one read for ``op`` may serve: L2 answers several at once only if they ask for whole lines."""
    return op.shared_by if lands_whole(start_of(op)) else 1.0


def cp_async(lane: WarpLane, op: CpAsync) -> Generator:
    if not lane.executes(op):
        return
    start = lane.sim.now
    ring = lane.cta.rings[op.ring]
    stage = ring.stage(op.tile)
    amount, copies, late = op.bytes * lane.share(op), lane.sm.memory.copies, lane.draw_lateness(op.tile)
    ring.begin_write(lane.lane, op.tile, amount)
    room = lane.sm.memory.copies_room(amount, start_of(op))
    # What finds room is on its way while the rest waits for it.
    parts = 1 if copies.free(room) else COPY_PARTS
    count = lane.instructions(op) / parts
    access = access_of_rows(op.row, op.pitch or op.row) if op.row else DENSE
    # Who meets before it reads waits for the slowest line of all warps, and in a ring of their own each for its own.
    awaited, pieces = op.bytes / parts, op.pieces / parts
    if ring.ring.private:
        awaited, pieces = awaited / lane.among(op), pieces / lane.among(op)
        lane.deviation_s = max(
            lane.deviation_s, lane.sm.memory.deviation_s(awaited * DENSE.lines, there(op.l2_hit, op.on_the_way))
        )
    for _ in range(parts):
        yield from issue(lane, op, "cp_async", count, op.other / parts, op.masked / parts)
        request = LoadRequest(
            "cp_async", amount / parts, op.l2_hit, start_of(op), lane.origin(op.tile, stage), access,
            slowest_of=awaited, pieces=max(pieces, 1.0), shared_by=_together(op), on_the_way=op.on_the_way, late=late,
        )  # fmt: skip
        ask = partial(_ask, lane, request, room / parts)
        if copies.free(room / parts):
            arrival = ask()
        else:
            arrival, lane.entering = lane.sim.event(), lane.sim.event()
            copies.enter(room / parts, start, partial(ask_late, ask, lane.entering, arrival))
            # Some of what waits for room stands in front of the load-store unit.
            one = room / (parts * count * lane.group.warps)
            yield from copies.queue(lane.sm.memory.copies_queued * one, start)
        lane.open.append((op, arrival))
    lane.mark("issue", start, op.tile, stage)
    _landing(lane, arrival, ring, op.tile, stage, start, op.bytes, None)


def _ask(lane: WarpLane, request: LoadRequest, room: float) -> Event:
    """Ask memory for a part of a copy, which has room now; its arrival."""
    arrival = lane.sm.memory.load(request)
    lane.sm.memory.copies.add(arrival, room)
    return arrival


def ask_late(ask: Callable[[], Event], entered: Event, arrived: Event) -> None:
    """``ask`` memory for what has found room now, which is ``entered``, and tell when it has ``arrived``."""
    entered.succeed()
    ask().callbacks.append(lambda _arrival: arrived.succeed())


def _landing(
    lane: WarpLane,
    arrival: Event,
    ring: RingState,
    tile: int,
    stage: int,
    start: float,
    amount: int,
    barrier: PhasedBarrier | None,
) -> None:
    """When the copy arrives: the stage holds the tile, and its barrier counts the bytes."""
    trace, cause = lane.trace, lane.last_interval

    def landed(_event: Event) -> None:
        ring.end_write(lane.lane, tile)
        index = -1
        if trace is not None:
            now = lane.sim.now
            index = trace(ring.lanes[stage], "copy", start, now, tile=tile, stage=stage, bytes=amount, cause=cause)
        if barrier is not None:
            barrier.complete(amount, index)

    if arrival.processed:
        # It came while what was issued behind it waited for room.
        landed(arrival)
    else:
        arrival.callbacks.append(landed)


def commit_group(lane: WarpLane, op: CommitGroup) -> Generator:
    lane.groups.append([arrival for _, arrival in lane.open])
    lane.open = []
    lane.owe(lane.cost.sync_issue_slots)
    # The last warp waits for what is left of the others' turns.
    warps, each = lane.group.warps, lane.cost.commit_s
    served = lane.sm.units.commit(warps) - (warps - 1) * lane.apart_s
    lane.apart_s = max(lane.apart_s, each)
    yield from lane.spend("issue", max(served, each), op.tile)


def wait_group(lane: WarpLane, op: WaitGroup) -> Generator:
    start = lane.sim.now
    lane.owe(lane.cost.sync_issue_slots)
    before = lane.waits
    while len(lane.groups) > op.pending:
        for arrival in lane.groups.popleft():
            if not arrival.processed:
                lane.waits = before + 1
                yield from lane.sim.wait(arrival, lane.lane, "copy_in_flight", Request(lane.lane), op.tile)
    lane.mark("wait", start, op.tile, reason="copy_in_flight")


def tma_load(lane: WarpLane, op: TmaLoad) -> Generator:
    if not lane.group.elects:
        return
    ring = lane.cta.rings[op.ring]
    stage = ring.stage(op.tile)
    sim, barrier, cost = lane.sim, ring.full[stage], lane.cost
    start = sim.now
    # Of several copies for a stage the first one's thread announces all bytes.
    again = lane.copied == (op.ring, op.tile)
    lane.copied = op.ring, op.tile
    if op.copies == 1:
        amounts, code = [op.bytes], cost.tma_issue_again_slots if again else cost.tma_issue_slots
    else:
        # Those of the first lanes arrive while the others are asked for.
        parts, code = min(op.copies, COPY_PARTS), op.copies * cost.tma_issue_elected_slots
        amounts = [op.bytes * (part + 1) // parts - op.bytes * part // parts for part in range(parts)]
    rest, late = max(code - cost.tma_submit_slots, 0.0) / len(amounts), lane.draw_lateness(op.tile)
    for amount in amounts:
        ring.begin_write(lane.lane, op.tile, amount)
    # The thread is busy for longer than it takes until the copy unit has the request.
    yield lane.issue_code(cost.tma_submit_slots)
    barrier.arrive(1, op.bytes, lane.last_interval)
    for amount in amounts:
        if op.copies > 1:
            yield lane.issue_code(rest)
        request = LoadRequest(
            "tma", amount, op.l2_hit, start_of(op), lane.origin(op.tile, stage), pieces=op.copies / len(amounts),
            shared_by=_together(op), multicast=ring.among if op.multicast else 1, on_the_way=op.on_the_way, late=late,
        )  # fmt: skip
        arrival = lane.sm.memory.load(request)
        _landing(lane, arrival, ring, op.tile, stage, start, amount, barrier)
    if op.copies == 1:
        yield lane.issue_code(rest)
    lane.mark("issue", start, op.tile, stage)


def tma_store(lane: WarpLane, op: TmaStore) -> Generator:
    if not lane.group.elects:
        return
    ring = lane.cta.rings[op.ring]
    stage = ring.stage(op.tile)
    start = lane.sim.now
    name, trace, cause = lane.lane + BULK_STORE, lane.trace, lane.last_interval
    ring.begin_read(name, op.tile)
    yield lane.issue_code(lane.cost.tma_submit_slots)
    done = lane.sm.memory.bulk_store(op.bytes, lane.origin(op.tile, stage), lane.cost.tma_store_latency_s)

    def source_read(_event: Event) -> None:
        ring.end_read(name, op.tile)
        if trace is not None:
            now = lane.sim.now
            trace(ring.lanes[stage], "store", start, now, tile=op.tile, stage=stage, bytes=op.bytes, cause=cause)

    done.callbacks.append(source_read)
    lane.stores.append(done)
    yield lane.issue_code(max(lane.cost.tma_store_issue_slots - lane.cost.tma_submit_slots, 0.0))
    lane.mark("issue", start, op.tile, stage)


def bulk_wait(lane: WarpLane, op: BulkWait) -> Generator:
    start = lane.sim.now
    while len(lane.stores) > op.pending:
        event = lane.stores.popleft()
        if not event.processed:
            yield from lane.sim.wait(event, lane.lane, "store_drain", Request(lane.lane), op.tile)
    lane.mark("wait", start, op.tile, reason="store_drain")


COPY_HANDLERS = {
    CpAsync: cp_async,
    CommitGroup: commit_group,
    WaitGroup: wait_group,
    TmaLoad: tma_load,
    TmaStore: tma_store,
    BulkWait: bulk_wait,
}
"""What each op of copies does."""
