"""L2 and HBM as all SMs share them.

Models: the bandwidth of HBM (reads and writes cost differently, mixing them costs more, and so does opening a
  block for less than all of it; in order of address writes cost less, and reads wait less) and of L2 (one way in, for
  writes, requests and what comes from DRAM, and one out), shared max-min fairly by all SMs; latency to DRAM, where a
  copy of many lines waits for its slowest one; what a loaded HBM adds to it, by reads and by writes.
Omits: the two halves of L2 unless the footprint is known, translation misses, channel conflicts beyond
  what the measured latencies hold; when it is that L2 begins to write back what it holds of written data.
Source: realkernels.microbench (tma, burst, loaded, access, hbm, in_order, l2, dirty, latency); see the profile.

All SMs of a class are simulated as one, as if they were in step. They are so at the start; then
every load's jitter moves them further apart, and one SM's copy finds bandwidth that others leave
unused. So HBM saves what is not used, as far as the SMs have drifted apart and up to one round (a tile of
every resident CTA), and a copy may spend it (`Capacity.reserve`); what remains of the crowding
is measured and added as latency.
"""

from __future__ import annotations

from math import exp, inf

from gpusim.engine import Capacity, Flow, FluidSystem, Simulation
from gpusim.hardware.access import BLOCK_BYTES, DENSE, GRANULE_BYTES, LINE_BYTES, SECTOR_BYTES, Access
from gpusim.hardware.profile import DeviceProfile

__all__ = ["Memory", "among_loads", "among_writes", "kept_part", "slowest"]

QUEUE_ROUNDING = 0.05
"""Keeps the queue finite at full load, where a closed system of SMs cannot wait for ever."""
FEW_WRITES = 2e-3
"""Share of writes below which mixing costs nothing: results at the end of kernels that read."""
WIDTH = 12.0**0.5
"""Width of the uniform distribution with standard deviation 1: how long a crowd of SMs takes to pass."""
LOAD_AVERAGE_S = 4e-6
"""Time over which the load of HBM is averaged: some turns of a tile loop."""


def among_loads(load: float, transfer: float, contention: float, burst: float, queue: float) -> float:
    """What loads of other SMs add to the latency of one, at a utilisation ``load`` of HBM; all times in one unit.

    ``transfer``: how long it takes if all SMs load as much at once. Of that a copy waits for ``contention``, but SMs
    are in step with each other for no longer than ``burst``. ``queue``, of requests that come at any time.
    """
    crowd = transfer / (1.0 + transfer / burst) if burst else 0.0
    return contention * load * crowd + queue * load / (1.0 - load + QUEUE_ROUNDING)


def among_writes(writes: float, load: float) -> float:
    """By how much more loads wait for writes than where these take all that is left of HBM: the root of that part.

    ``writes`` and ``load``: utilisation of HBM by writes, and by everything.
    """
    return (writes / (1.0 - load + QUEUE_ROUNDING)) ** 0.5


def slowest(range_: tuple[float, float], lines: float, scale: float) -> float:
    """What the slowest of ``lines`` waits for: from the value of one line to that of many."""
    one, many = range_
    return one + (many - one) * (1.0 - exp(-(lines - 1.0) / scale)) if scale else one


def _with_others(opened: float, completed: float) -> float:
    """Bytes that DRAM could move for a wanted one, where others want the rest of ``completed`` of what it opens."""
    return opened + completed * (1.0 - opened)


def kept_part(read_bytes: float, written_bytes: float, profile: DeviceProfile) -> float:
    """Part of what a kernel writes that L2 still holds at the end, if it held nothing of the kind at the start.

    The lines last touched stay, up to a capacity for written ones.
    """
    if not written_bytes:
        return 0.0
    share = written_bytes / (read_bytes + written_bytes)
    return min(min(profile.value("l2.written_capacity"), share * profile.value("l2.capacity")) / written_bytes, 1.0)


class Memory:
    """The memory system behind ``sms`` SMs.

    ``round_bytes`` is one tile of every resident CTA, ``rounds`` how many of them there will be. ``footprint_bytes``:
    what is read again and again, 0 if unknown. ``writes_in_order``, ``reads_in_order``: part of the gain of what is in
    order of address that the kernel has (`gpusim.hardware.address_order`). ``kept``: part of what is written that never
    gets to HBM (`kept_part`); ``reads_per_write``: bytes read from HBM for each one written.
    """

    def __init__(
        self,
        sim: Simulation,
        profile: DeviceProfile,
        sms: int,
        round_bytes: float,
        rounds: float,
        footprint_bytes: float = 0.0,
        writes_in_order: float = 0.0,
        reads_in_order: float = 0.0,
        kept: float = 0.0,
        round_written: float = 0.0,
        reads_per_write: float = 0.0,
    ) -> None:
        self.sim = sim
        self.profile = profile
        self.round_bytes = round_bytes
        # Of an even spread with the same standard deviation.
        self.jitter_s = 3.0**0.5 * profile.seconds_of("dram.latency_jitter")
        """By how much the latency of a load from DRAM varies at most, either way."""
        self.fluid = FluidSystem(sim)
        value = profile.value
        read = value("hbm.read_bandwidth")
        write = value("hbm.write_bandwidth") * (1.0 + writes_in_order * value("hbm.write_in_order_gain"))
        self._read_weight = 1.0 / read
        # As long as L2 keeps what is written HBM only reads, and L2 takes in both: what that costs beyond the reads.
        filled = value("l2.fill_weight") + value("l2.read_command_bytes") / LINE_BYTES
        taken_in = (1.0 + filled * reads_per_write) / value("l2.write_bandwidth") - reads_per_write / read
        self._write_weight = (1.0 - kept) / write + kept * max(taken_in, 0.0)
        self._to_dram = 1.0 - kept
        parts = ("_mostly_reads", "", "_mostly_writes")
        self._mix_loss = tuple(
            self._to_dram
            * (
                (1.0 - writes_in_order) * value(f"hbm.mix_loss{part}")
                + writes_in_order * value(f"hbm.mix_loss{part}_in_order")
            )
            for part in parts
        )
        self._block_share = value("hbm.read_block_share"), value("hbm.write_block_share")
        self._strided_block_share = value("hbm.read_block_share_strided")
        # Each half of L2 keeps what its SMs read as far as it can; the rest is in the other half.
        far = max(1.0 - value("l2.capacity") / 2.0 / footprint_bytes, 0.0) if footprint_bytes else 0.0
        self.far_s = far * profile.seconds_of("l2.far_latency")
        """Mean latency of a hit beyond that of the near half."""
        self._l2_read_request = value("l2.read_request_bytes")
        # A request to write has a part of its own and one for each sector; a line of them takes as long as its bytes.
        request, sectors = value("l2.write_request_bytes"), LINE_BYTES / SECTOR_BYTES
        self._l2_write_sector = (LINE_BYTES - request) / (sectors - 1.0)
        self._l2_write_request = request - self._l2_write_sector
        self._l2_partial = value("l2.partial_sector")
        # Where nothing is written the way in is never full.
        self._l2_command = value("l2.read_command_bytes") if round_written else 0.0
        self._l2_fill = value("l2.fill_weight")
        # In seconds of HBM time per second, so that reads and writes add up.
        worst = min(
            value(f"{unit}.unaligned_{kind}_efficiency") for unit in ("tma", "lsu") for kind in ("sector", "line")
        )
        full_s = round_bytes / read / worst + round_written / write
        apart = (
            _mean_drift(full_s, WIDTH * profile.seconds_of("dram.latency_jitter"), rounds) / full_s if full_s else 1.0
        )
        self.hbm = Capacity("hbm", self._hbm_limit, reserve=apart * full_s)
        self.l2 = Capacity("l2", value("l2.read_bandwidth"), reserve=apart * round_bytes)
        round_in = round_written + round_bytes * (self._l2_fill + self._l2_command / LINE_BYTES)
        self.l2_in = Capacity("l2 in", value("l2.write_bandwidth"), reserve=apart * round_in)
        self.l2_partial = Capacity("l2 partial writes", value("l2.write_bandwidth"), reserve=apart * round_written)
        self._written = Capacity("hbm writes", inf)
        self._off_line, self._off_line_room = 0.0, value("tma.off_line_under_way")
        self._share_s_per_byte = sms / read
        queue = value("hbm.queue_time") * (1.0 - reads_in_order * (1.0 - value("hbm.queue_in_order")))
        self._among_loads = value("hbm.burst_contention"), value("hbm.burst_time"), queue
        self._write_queue_s = value("hbm.write_queue_one_line"), value("hbm.write_queue_many_lines")
        self._write_queue_lines = value("hbm.write_queue_lines")
        self._between_warps = value("hbm.write_queue_between_warps")
        self._crowded = 0.0
        self._dram_s = tuple(profile.seconds_of(key) for key in ("dram.latency", "dram.latency_many_lines"))
        self._many_lines = value("dram.many_lines")
        self._load, self._mix = (_Average(), _Average()), (_Average(), _Average())

    def _hbm_limit(self, flows: list[Flow]) -> float:
        """What is left of HBM's time at the mix of reads and writes of late, or of now when it has just begun."""
        written, used = self._written, self.hbm.used_total
        if not any(self._mix_loss) or written.used_total < FEW_WRITES * used or not (used or written.flows):
            return 1.0
        load, writes = self._seen(self._mix)
        if not load:
            load = sum(flow.multiplicity for flow in flows)
            writes = sum(flow.multiplicity for flow in self._written.flows)
        share = 4.0 * min(writes / load, 1.0) if load else 0.0
        known = (0.0, *self._mix_loss, 0.0)
        below = min(int(share), 3)
        return 1.0 - known[below] - (share - below) * (known[below + 1] - known[below])

    def reads(
        self, access: Access, l2_hit: float, efficiency: float = 1.0, completed: float = 0.0
    ) -> list[tuple[Capacity, float]]:
        """What one byte between L2 and an SM takes of both ways and of HBM, used with ``efficiency``.

        ``completed``: part of it around which others read the rest.
        """
        fetched = access.fetched
        uses = [(self.l2, max(1.0, access.lines * self._l2_read_request / fetched))]
        if self._l2_command:
            filled = (1.0 - l2_hit) * _with_others(GRANULE_BYTES * access.granules, completed) * self._l2_fill
            uses.append((self.l2_in, (access.lines * self._l2_command + filled) / fetched))
        if l2_hit < 1.0:
            opened = self._opened(access, self._block_share[0] if access.scattered else self._strided_block_share)
            share = (1.0 - l2_hit) * _with_others(opened, completed) / fetched
            uses.append((self.hbm, share * self._read_weight / efficiency))
        return uses

    def add_off_line(self, amount: float) -> bool:
        """Bulk loads of ``amount`` bytes that start off a line are under way from now, or have arrived if negative.

        Whether there are so many of them that they lose bandwidth.
        """
        self._off_line += amount
        return self._off_line > self._off_line_room

    def writes(
        self, access: Access, l2_hit: float, completed: float = 0.0, merged: float = 0.0
    ) -> list[tuple[Capacity, float]]:
        """The same of a byte on its way out, if it goes on to DRAM at all.

        Sectors written in part are read first, unless they are ``completed`` by others. Of ``merged`` of what is wanted
        L1 has put the parts together.
        """
        apart = self._writes(access, l2_hit, completed)
        if not merged:
            return apart
        part = (1.0 - merged) * access.fetched / ((1.0 - merged) * access.fetched + merged)
        uses = {capacity: part * weight for capacity, weight in apart}
        for capacity, weight in self._writes(DENSE, l2_hit, 0.0):
            uses[capacity] = uses.get(capacity, 0.0) + (1.0 - part) * weight
        return list(uses.items())

    def _writes(self, access: Access, l2_hit: float, completed: float) -> list[tuple[Capacity, float]]:
        sent = access.fetched
        request, sectors = access.lines * self._l2_write_request, access.sectors * self._l2_write_sector
        into_l2 = [(self.l2_in, (request + sectors) / sent)]
        if sent > 1.0:
            # Changing a sector takes longer than bringing it, which goes on meanwhile.
            into_l2.append((self.l2_partial, (request + self._l2_partial * sectors) / sent))
        if l2_hit >= 1.0:
            return into_l2
        opened = self._opened(access, self._block_share[1])
        # What fills a sector is read between writes, not in the order of a stride.
        filled = self._opened(access, self._block_share[0]) if sent > 1.0 else 0.0
        opened = _with_others(opened, completed)
        filled *= 1.0 - completed
        share = (1.0 - l2_hit) / sent
        return [
            *into_l2,
            (self.hbm, share * (opened * self._write_weight + filled * self._read_weight)),
            (self._written, share * opened * self._write_weight),
        ]

    @staticmethod
    def _opened(access: Access, share: float) -> float:
        """Bytes that DRAM could move in its time for a wanted one; opening a block is ``share`` of the time of one."""
        return share * BLOCK_BYTES * access.blocks + (1.0 - share) * GRANULE_BYTES * access.granules

    def dram_latency_s(self, amount: float, lines: float) -> float:
        """Latency beyond that of L2 of ``amount`` bytes from DRAM, until the slowest of ``lines`` is there."""
        load, _ = self._seen(self._load)
        crowd_s = among_loads(load, self._share_s_per_byte * amount, *self._among_loads)
        return self._dram_s[0] + self.spread_s(lines) + crowd_s

    def behind_writes_s(self, lines: float) -> float:
        """What writes of all SMs to DRAM add to the latency of the slowest of ``lines``, from wherever they come."""
        load, writes = self._seen(self._load)
        self._crowded = among_writes(self._to_dram * writes, load)
        return self._crowded * slowest(self._write_queue_s, max(lines, 1.0), self._write_queue_lines)

    def apart_behind_writes_s(self, lines: float, own: float) -> float:
        """How much later writes let the slowest of all ``lines`` of a CTA come than the ``own`` ones of one warp.

        As crowded as the last load found it: looking more often would change what is averaged.
        """
        last, typical = (
            slowest(self._write_queue_s, max(count, 1.0), self._write_queue_lines) for count in (lines, own)
        )
        return self._crowded * self._between_warps * (last - typical)

    def spread_s(self, lines: float) -> float:
        """By how much the slowest of ``lines`` comes later than one line."""
        one, many = self._dram_s
        return slowest((0.0, many - one), max(lines, 1.0), self._many_lines)

    def _seen(self, averages: tuple[_Average, _Average]) -> tuple[float, float]:
        """Utilisation of HBM, and that by writes alone, averaged over the last `LOAD_AVERAGE_S`."""
        now = self.sim.now
        both, writes = averages
        return min(both.at(now, self.hbm.used_total), 1.0), min(writes.at(now, self._written.used_total), 1.0)


class _Average:
    """How fast a total has grown of late."""

    __slots__ = ("_average", "_seen_s", "_seen_total", "_weight")

    def __init__(self) -> None:
        self._seen_s = self._seen_total = self._average = self._weight = 0.0

    def at(self, now: float, total: float) -> float:
        elapsed = now - self._seen_s
        if elapsed > 0.0:
            keep = exp(-elapsed / LOAD_AVERAGE_S)
            self._average = keep * self._average + (1.0 - keep) * (total - self._seen_total) / elapsed
            self._weight = keep * self._weight + (1.0 - keep)
            self._seen_s, self._seen_total = now, total
        return self._average / self._weight if self._weight else 0.0


def _mean_drift(full: float, per_round: float, rounds: float) -> float:
    """Mean over ``rounds`` of min(full, per_round * sqrt(n)): a random walk that ends when it has filled a round."""
    if per_round <= 0.0:
        return full
    filled = min((full / per_round) ** 2, rounds)
    if filled <= 0.0:
        return full
    return (filled * (2.0 / 3.0) * per_round * filled**0.5 + (rounds - filled) * full) / rounds
