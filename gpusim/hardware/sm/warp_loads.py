"""What a group of warps loads into registers and stores from them.

Models: the instructions that issue an access, the request to memory, and who waits for what comes back.
Source: realkernels.microbench (ldg, access, meeting, masked, structs).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from gpusim.engine import Event
from gpusim.hardware.memory.access import LINE_BYTES, Access, access_of
from gpusim.hardware.memory.load_request import LoadRequest
from gpusim.hardware.sm.costs import MemoryBatch, known_mix
from gpusim.hardware.sm.warp_atomics import atomic
from gpusim.hardware.sm.warp_copies import COPY_PARTS, Request, ask_late, issue, start_of
from gpusim.program import WARP_SIZE, Atomic, Load, Store, StoreShared, WaitLoads

if TYPE_CHECKING:
    from gpusim.hardware.sm.warp import WarpLane

__all__ = ["LOAD_HANDLERS", "LoadUnderWay", "await_loads", "loaded"]

ARRIVALS_APART_S = 1e-6
"""Seconds from one warp to the next behind a load: each goes on with its own data, which come one after the other, and
so they do not want anything at once."""
MOST_PARTS = 256
"""Parts of one load at most: each takes a quarter of L1, which so many fill anew more than sixty times."""


@dataclass(slots=True)
class LoadUnderWay:
    """A load into registers: the arrivals of its parts, and when the slowest warp of the group has it."""

    arrivals: list[Event] = field(default_factory=list)
    slowest_s: float = 0.0


def load(lane: WarpLane, op: Load) -> Generator:
    if not lane.executes(op) or not (op.bytes or op.wait):
        if not op.wait:
            # `WaitLoads` counts it all the same.
            lane.loads.append(LoadUnderWay())
        return
    start = lane.sim.now
    memory, share = lane.sm.memory, lane.share(op)
    access = access_of(op.width, op.stride, op.scatter, op.structure)
    passes = access.passes(op.l1_hit, op.l1_wavefronts / (WARP_SIZE * op.width))
    # What L1 holds already is there before anything from L2; only what it lacks is asked for.
    missed = op.bytes * (1.0 - op.l1_hit)
    # More than L1 has room for goes out as earlier lines come in; in parts, so that it begins at once.
    taken = missed * share * access.lines * LINE_BYTES
    parts = min(max(ceil(taken * COPY_PARTS / memory.l1.size), 1), MOST_PARTS) if taken > memory.l1.size / 2 else 1
    count = lane.instructions(op) / parts
    loading, late = LoadUnderWay(), lane.draw_lateness(op.tile)
    lines = op.bytes / lane.among(op) * access.lines
    held = lane.last_load_hits(op.l1_hit ** max(lines, 1.0))
    for _ in range(parts):
        yield from issue(lane, op, "ldg", count, op.other / parts, op.masked / parts, passes)
        if not missed:
            loading.arrivals.append(lane.sim.timeout(lane.cost.l1_latency_s))
            continue
        ask = partial(_ask, lane, op, access, start, parts, loading, late)
        if held:
            # These warps have all they want; what is asked for is others'.
            loading.arrivals.append(lane.sim.timeout(lane.cost.l1_latency_s))
            ask()
            continue
        if memory.l1.free(taken / parts):
            loading.arrivals.append(ask())
            continue
        arrived, lane.entering = lane.sim.event(), lane.sim.event()
        loading.arrivals.append(arrived)
        memory.l1.enter(taken / parts, start, partial(ask_late, ask, lane.entering, arrived))
        # What waits for room stands in the queue of the load-store unit.
        yield from memory.l1.queue(memory.queue.room * taken / (parts * count * lane.group.warps), start)
    lane.loads.append(loading)
    if op.wait:
        yield from await_loads(lane, op.tile)
        lane.mark("load", start, op.tile)
    else:
        lane.mark("issue", start, op.tile)


def _ask(
    lane: WarpLane, op: Load, access: Access, start: float, parts: int, loading: LoadUnderWay, late: float
) -> Event:
    """Ask memory for one of the ``parts`` of ``op``, which began at ``start`` and has room in L1; its arrival."""
    memory, missed = lane.sm.memory, op.bytes * (1.0 - op.l1_hit) / parts
    # Each warp waits for its own lines only.
    warps, wanted = lane.among(op), missed * lane.share(op)
    own, pieces = missed / warps, max(op.pieces / warps, 1.0)
    request = LoadRequest(
        "ldg", wanted, op.l2_hit, start_of(op), lane.origin(op.tile), access, slowest_of=own, pieces=pieces,
        completed=op.completed, shared_by=op.shared_by, on_the_way=op.on_the_way, late=late,
    )  # fmt: skip
    arrival = memory.load(request)
    lane.deviation_s = max(lane.deviation_s, memory.deviation_s(own * access.lines, request.there))
    late_s = memory.spread_s(missed, float(op.pieces), warps, request.there, access)
    arrival.callbacks.append(partial(_slowest, lane, loading, late_s))
    if not op.wait and lane.trace is not None:
        arrival.callbacks.append(partial(loaded, lane, start, op.tile, round(wanted), lane.last_interval))
    return arrival


def _slowest(lane: WarpLane, loading: LoadUnderWay, late_s: float, _arrived: Event) -> None:
    loading.slowest_s = max(loading.slowest_s, lane.sim.now + late_s)


def loaded(lane: WarpLane, start: float, tile: int, amount: int, cause: int, _arrival: Event) -> None:
    """Loads under way while their warps do something else are copies in flight, like those of the copy units."""
    lane.trace(lane.cta.loads, "copy", start, lane.sim.now, tile=tile, bytes=amount, cause=cause)


def await_loads(lane: WarpLane, tile: int, pending: int = 0) -> Generator:
    """Wait until at most ``pending`` of the loads of the warps' own are under way."""
    before = lane.waits
    lane.waited |= len(lane.loads) > pending
    while len(lane.loads) > pending:
        loading = lane.loads.popleft()
        for arrival in loading.arrivals:
            if not arrival.processed:
                # What is under way at the same time is one wait, however many loads it is.
                lane.waits = before + 1
                yield from lane.sim.wait(arrival, lane.lane, "copy_in_flight", Request(lane.lane), tile)
                lane.apart_s = ARRIVALS_APART_S
        lane.slowest_s = max(lane.slowest_s, loading.slowest_s)
    if lane.group.typical:
        lane.late_s = max(lane.late_s, lane.slowest_s - lane.sim.now)


def wait_loads(lane: WarpLane, op: WaitLoads) -> Generator:
    start = lane.sim.now
    yield from await_loads(lane, op.tile, op.pending)
    lane.mark("wait", start, op.tile, reason="copy_in_flight")


def store_shared(lane: WarpLane, op: StoreShared) -> Generator:
    if not lane.executes(op):
        return
    start = lane.sim.now
    ring = lane.cta.rings[op.ring] if op.ring else None
    if ring is not None:
        ring.begin_write(lane.lane, op.tile)
    count = lane.instructions(op)
    yield from lane.reach_shared_memory()
    yield lane.issue(known_mix(sts=count, sts_bytes=op.width, other=op.other, masked=op.masked))
    if ring is not None:
        ring.end_write(lane.lane, op.tile)
    lane.mark("store", start, op.tile)


def store(lane: WarpLane, op: Store) -> Generator:
    if not lane.executes(op):
        return
    start = lane.sim.now
    # What a CTA writes side by side comes at about the same time, unless its warps go their own ways from tile to tile.
    run = op.run or (op.bytes if lane.cta.tiles == 1 or not lane.group.loose else 0)
    access = access_of(op.width, op.stride, op.scatter, shift=op.shift, run=run)
    completed = 1.0 if op.shift else op.completed
    memory, share = lane.sm.memory, op.bytes * lane.share(op)
    batch = MemoryBatch(lane.instructions(op), op.other, 0.0, access.passes(), op.width, lane.cost.ldg)
    issued = lane.issue_memory(batch)
    if access.dense:
        yield issued
    tile, split = lane.split
    # Of the first store in a tile it shows in the tile before.
    lane.waited, lane.split = False, (op.tile, lane.waited if tile == op.tile else split)
    memory.store(
        share, lane.origin(op.tile), access=access, l2_hit=op.l2_hit, completed=completed,
        each=WARP_SIZE * op.width, at_once=0 if lane.group.loose else lane.among(op) * lane.sm.at_once,
        split=lane.split[1],
    )  # fmt: skip
    if not access.dense:
        # The turns of lines that are not written whole are those in which they are sent.
        yield issued
    yield from memory.stores.room(min(lane.group.warps * WARP_SIZE * op.width, share) * access.fetched)
    lane.mark("store", start, op.tile)


LOAD_HANDLERS = {
    Load: load,
    WaitLoads: wait_loads,
    StoreShared: store_shared,
    Store: store,
    Atomic: atomic,
}
"""What each op of loads, stores and atomics by threads does."""
