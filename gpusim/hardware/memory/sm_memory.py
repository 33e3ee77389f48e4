"""The way of one SM to memory: its copy unit, its load-store path and its port.

Models: bulk copies (TMA) of a CTA, loads and stores, one after the other, and its loads through the load-store path
  (LSU) likewise, those of several CTAs side by side; in HBM later ones overtake, so far; a FIFO for stores through the
  load-store path, all behind the SM's port; L1 with room for the lines of loads by threads that are under way, each of
  which leaves when it has come; stores to parts of the same sectors, which L1 puts together; latency to L2; copies that
  do not start on a line of 128 bytes or a sector of 32: an SM takes them in more slowly, and some bandwidth of HBM is
  lost (of bulk copies on sectors if many are under way). What L2 holds waits behind what DRAM is asked for
  (`gpusim.hardware.memory.miss_queue`).
Omits: CTAs whose copies all start at the same place in a line, and how unevenly those off a line are served.
Source: realkernels.microbench (tma, tma_both, ldg, cpasync, access, behind_loads, together, overtaking, alignment,
  offset, latency); see the profile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

from gpusim.engine import Capacity, Event, OvertakingServer
from gpusim.hardware.memory.access import DENSE, LINE_BYTES, SECTOR_BYTES, WIDEST, Access
from gpusim.hardware.memory.alignment import UNALIGNED, Alignment, Start
from gpusim.hardware.memory.l2_and_hbm import Memory
from gpusim.hardware.memory.load_request import LoadRequest, Origin
from gpusim.hardware.memory.load_store import LoadStoreQueue
from gpusim.hardware.memory.outstanding import Outstanding
from gpusim.hardware.memory.store_coalescing import merged_part, turns_of
from gpusim.hardware.memory.store_queue import StoreQueue
from gpusim.program import WARP_SIZE, Atomic
from gpusim.timeline import Kind, Recorder

__all__ = ["SmMemory"]


class SmMemory:
    """One SM's way to memory (or that of ``multiplicity`` SMs in step)."""

    def __init__(self, memory: Memory, lane: str, multiplicity: int, l1_bytes: float, trace: Recorder | None) -> None:
        profile = memory.profile
        self.behind = memory
        """What all SMs share."""
        self._multiplicity = multiplicity
        self._trace = trace
        self._lane = lane
        self.stored_s = 0.0
        """When the last store so far was done; a kernel ends no earlier."""
        clock = profile.clock_hz
        # The port belongs to one SM while flows count with their multiplicity.
        self._port = Capacity(f"{lane}.port", multiplicity * profile.value("sm.port_bandwidth") * clock)
        self._units = {unit: self._unit(unit) for unit in ("tma", "lsu")}
        self.copy_unit = self._units["tma"][1]
        self._lsu_stores = self._server("lsu.store_bandwidth")
        self._drawn_s: dict[str, float] = {}
        """Until when the timeline shows what passes, by lane."""
        self._bulk_store_rate = profile.value("tma.store_bandwidth") * clock
        self.l1 = Outstanding(memory.sim, l1_bytes, profile.value("lsu.loads_ahead") * WARP_SIZE * WIDEST)
        self.queue = LoadStoreQueue(
            memory.sim, profile.value("lsu.queue"), profile.seconds_of("lsu.queue_felt_after"),
            profile.value("lsu.queue_passed"), profile.seconds_of("lsu.queue_depth"),
        )  # fmt: skip
        self.stores = StoreQueue(memory.sim, profile.value("lsu.store_queue"), profile.value("lsu.stores_ahead"))
        self._merging = profile.value("lsu.merging_lines"), profile.value("lsu.merging_crowd")
        self._merging_split = profile.value("lsu.merging_split")
        self._sparse = Capacity(f"{lane}.store_lines", multiplicity * profile.value("lsu.store_bandwidth") * clock)
        off_sector, *lsu = (profile.value(name) for name in UNALIGNED)
        self._efficiency = {"tma": (off_sector, 1.0), "lsu": tuple(lsu)}
        """Of HBM, for copies off a sector and off a line."""
        self._alignment = Alignment(profile)
        in_queue = self.copies_room(profile.value("lsu.queue") * WARP_SIZE * WIDEST, Start(LINE_BYTES))
        self.copies = Outstanding(memory.sim, 1.0, in_queue)
        """Copies by cp.async; `copies_room` says what room each takes."""
        self.copies_queued = profile.value("lsu.loads_ahead")
        """Copies that are issued and wait for room, as many as loads; who has more to issue waits for these."""
        self._near_s = {
            "tma": profile.seconds_of("tma.l2_latency"),
            "ldg": profile.seconds_of("lsu.ldg_l2_latency"),
            "cp_async": profile.seconds_of("lsu.cp_async_l2_latency"),
        }

    def _server(self, rate: str) -> OvertakingServer:
        """What serves requests at the rate that the profile has for it."""
        memory, profile = self.behind, self.behind.profile
        return OvertakingServer(
            memory.sim,
            memory.fluid,
            profile.value(rate) * profile.clock_hz,
            window=memory.overtaking_s,
            multiplicity=self._multiplicity,
        )

    def _unit(self, name: str) -> tuple[OvertakingServer, Capacity]:
        """A unit that loads, and what it passes per second."""
        profile, rate = self.behind.profile, f"{name}.bandwidth"
        limit = self._multiplicity * profile.value(rate) * profile.clock_hz
        return self._server(rate), Capacity(f"{self._lane}.{name}", limit)

    def load(self, request: LoadRequest) -> Event:
        """Fetch what ``request`` asks for; the event is the arrival of its last byte."""
        server, bandwidth = self._units[request.unit]
        access, l2_hit, origin = request.access, request.l2_hit, request.origin
        efficiency, rate, off_line = self._pace(request)
        behind = self.behind.reads(access, l2_hit, efficiency, request.completed, request.shared_by, request.multicast)
        slower = max(self._alignment.aligned_rate("tma") / rate, 1.0) if request.path == "tma" else 1.0
        uses = [(self._port, 1.0), *behind, (bandwidth, slower)]
        if off_line:
            uses.append((self.behind.fabric, (1.0 - l2_hit) / access.fetched))
        weight = dict(behind).get(self.behind.hbm, 0.0)
        if weight:
            self.behind.misses.ask(self, request, weight * self._multiplicity)
        arrival = server.request(
            request.amount * access.fetched,
            uses,
            queue=origin.cta,
            in_turn=request.path == "ldg",
            weight=weight,
            rate=rate,
            part=origin.part,
            latency_s=self._latency_of(request),
            served=self._served(f"{origin.cta}.{request.unit}", request.amount, origin),
        )
        if off_line:
            arrival.callbacks.append(lambda _arrival: self.behind.add_off_line(-off_line))
        return arrival

    def _pace(self, request: LoadRequest) -> tuple[float, float, float]:
        """How a load passes by where it starts: efficiency of HBM, bytes per second at most, bytes under way.

        The last are 0 except for bulk copies that start on a sector, but off a line: these count as under way from
        now on, until the caller takes them off again (`Memory.add_off_line`).
        """
        path, start = request.path, request.start
        if start.row:
            # Turns are of what is wanted; what is fetched twice for them is in them.
            return 1.0, self._alignment.rate(path, start) * request.access.fetched, 0.0
        if start.align >= LINE_BYTES:
            return 1.0, inf, 0.0
        on_sector, off_line = start.align >= SECTOR_BYTES, 0.0
        if path == "tma" and on_sector:
            off_line = request.missed * request.origin.part * self._multiplicity
            self.behind.add_off_line(off_line)
        return self._efficiency[request.unit][on_sector], self._alignment.rate(path, start), off_line

    def _latency_of(self, request: LoadRequest) -> Callable[[], float]:
        """What tells the latency of ``request`` when it has been served; loads into registers hold L1 until then."""
        if request.path != "ldg":
            return partial(self._latency_s, request)
        left = self.behind.sim.event()
        self.l1.add(left, request.amount * request.access.lines * LINE_BYTES)
        return partial(self._leaving_s, request, left)

    def _latency_s(self, request: LoadRequest) -> float:
        """Seconds from when a load has been served until the slowest line that is waited for is there.

        Even of a load that misses, all of the lines that are waited for may come from L2.
        """
        latency, there, lines = self.behind.latency, request.there, request.lines
        missed = request.amount * (1.0 - there)
        from_dram = 1.0 - there ** max(lines, 1.0)
        latency.look_at_writes()
        hit_s = self._near_s[request.path] + (1.0 - from_dram) * latency.far_s + latency.behind_writes_s(lines)
        if not missed:
            return hit_s + self.behind.misses.wait_s()
        fetched = lines * (1.0 - there)
        by_chance_s = request.late * latency.jitter_s(fetched / request.pieces)
        return hit_s + from_dram * (by_chance_s + latency.dram_latency_s(missed, fetched, request.pieces))

    def _leaving_s(self, request: LoadRequest, left: Event) -> float:
        """The latency of a load; its lines leave their room in L1, ``left``, as they come, not when all have come."""
        slowest_s = self._latency_s(request)
        typical_s = slowest_s - self._apart_s((request.lines, request.pieces), (1.0, 1.0), request.there)
        self.behind.sim.succeed_after(left, max(typical_s, 0.0))
        return slowest_s

    def take_in(self, path: str, count: float, width: int, start: Start, age: int) -> float:
        """Seconds until ``count`` instructions of ``width`` bytes per lane are in the load-store unit or its queue.

        ``age``: the number of their CTA.
        """
        return self.queue.take(count, WARP_SIZE * width / self._alignment.rate(path, start), age)

    def copies_room(self, amount: float, start: Start) -> float:
        """Part of the room for cp.async under way that ``amount`` bytes take."""
        return amount / self._alignment.room(start)

    def spread_s(self, amount: float, pieces: float, warps: int, there: float, access: Access) -> float:
        """How much later the slowest of ``amount`` bytes in ``pieces`` come than what one of ``warps`` waits for."""
        lines = amount * access.lines
        return self._apart_s((lines, pieces), (lines / warps, max(pieces / warps, 1.0)), there)

    def _apart_s(self, all_: tuple[float, float], own: tuple[float, float], there: float) -> float:
        """How much later the slowest of ``all_`` lines and pieces arrives than that of ``own``, as in `_latency_s`."""
        latency = self.behind.latency
        (lines, pieces), (own_lines, own_pieces) = all_, own
        apart_s = latency.apart_behind_writes_s(lines, own_lines)
        if (missed := 1.0 - there) > 0.0:
            apart_s += latency.spread_s(lines * missed, pieces) - latency.spread_s(own_lines * missed, own_pieces)
        return apart_s

    def deviation_s(self, lines: float, there: float) -> float:
        """Standard deviation of the latency of ``lines`` that a warp waits for; 0 if they come from L2."""
        missed = lines * (1.0 - there)
        return self.behind.latency.deviation_s(missed) if missed else 0.0

    def store(
        self,
        amount: float,
        origin: Origin,
        *,
        access: Access,
        l2_hit: float,
        completed: float,
        each: float,
        at_once: int,
        split: bool = False,
    ) -> Event:
        """Threads write ``amount`` bytes, ``each`` by an instruction of a warp; the event: they have been sent.

        ``access``: what is sent for a byte that is wanted; ``completed``: see `Memory.writes`. ``at_once``: warps
        that store at the same time, 0 if each does at its own. ``split``: waits for loads part its stores.
        """
        merged = 0.0
        if completed and not (access.dense or access.ends):
            merged = completed * self._merged(each * access.lines, at_once)
        merged *= self._merging_split if split else 1.0
        uses = [(self._port, 1.0), *self.behind.writes(access, l2_hit, completed, merged)]
        sent = amount * ((1.0 - merged) * access.fetched + merged)
        if not access.dense:
            uses.append((self._sparse, SECTOR_BYTES * turns_of(access, merged) * amount / sent))
        served = self._served(f"{self._lane}.lsu.store", amount, origin, "store")
        done = self._lsu_stores.request(sent, uses, part=origin.part, served=served)
        self.stores.add(done, sent, amount / each)
        done.callbacks.append(self._stored)
        return done

    @property
    def atomic_interval(self) -> float:
        """Cycles between two atomics of a warp that is alone."""
        return self.behind.atomics.interval

    def update(self, op: Atomic, amount: float, origin: Origin) -> tuple[float, Event | None]:
        """Threads update ``amount`` bytes, behind earlier stores: the bytes sent, and when old values come, if any."""
        memory, sim = self.behind.atomics, self.behind.sim
        sent = amount * memory.sent(op)
        served = self._served(f"{self._lane}.lsu.store", amount, origin, "store")
        done = self._lsu_stores.request(sent, [(self._port, 1.0), *memory.uses(op)], part=origin.part, served=served)
        self.stores.add(done, sent, amount / (WARP_SIZE * op.width))
        done.callbacks.append(self._stored)
        if not op.returns:
            return sent, None
        arrival = sim.event()
        done.callbacks.append(lambda _done: sim.succeed_after(arrival, memory.latency_s(op, amount)))
        return sent, arrival

    def bulk_store(self, amount: float, origin: Origin, latency_s: float) -> Event:
        """The copy unit writes ``amount`` bytes, in turn with other copies of the CTA that asks for it.

        The event: their source has been read, ``latency_s`` after the unit is done with them.
        """
        server, bandwidth = self._units["tma"]
        rate, cta = self._bulk_store_rate, origin.cta
        uses = [
            (self._port, 1.0),
            *self.behind.writes(DENSE, 0.0),
            (bandwidth, self._alignment.aligned_rate("tma") / rate),
        ]
        served = self._served(f"{cta}.tma", amount, origin, "store")
        done = server.request(
            amount, uses, queue=cta, in_turn=True, rate=rate, part=origin.part, latency_s=latency_s, served=served
        )
        done.callbacks.append(self._stored)
        return done

    def _merged(self, lines: float, at_once: int) -> float:
        """Part of stores of so many ``lines`` that L1 puts together with those that complete their sectors."""
        kept, crowd = self._merging
        # Of warps that store at the same time each has its turn before the next store of the first.
        if at_once:
            return merged_part(lines * at_once, 0.0, kept, crowd)
        return merged_part(lines, self.stores.queued(), kept, crowd)

    def _stored(self, _event: Event) -> None:
        self.stored_s = self.behind.sim.now

    def _served(
        self, lane: str, amount: float, origin: Origin, kind: Kind = "transfer"
    ) -> Callable[[float, float], None] | None:
        """What records on ``lane`` of the timeline when ``amount`` bytes have passed; None without one."""
        trace = self._trace
        if trace is None or not origin.drawn:
            return None

        def draw(start_s: float, end_s: float) -> None:
            # Of what passes side by side each is shown from when the one before it was done.
            start_s = max(start_s, self._drawn_s.get(lane, 0.0))
            self._drawn_s[lane] = end_s
            tile, stage, cause = origin.tile, origin.stage, origin.cause
            trace(lane, kind, start_s, end_s, tile=tile, stage=stage, bytes=round(amount), cause=cause)

        return draw
