"""L2 and HBM as all SMs share them.

Models: the bandwidth of HBM (reads and writes cost differently, mixing them costs more, and so does opening a
  block for less than all of it; in order of address writes cost less) and of L2 (one way in, for
  writes, requests and what comes from DRAM, and one out; requests that its far half serves take longer), shared
  max-min fairly by all SMs; what several SMs of a GPC read is told by `gpusim.hardware.memory.gpc_sharing`. Latencies
  are those of `gpusim.hardware.memory.loaded_latency`. How far later requests get ahead of earlier ones is told
  here, and done in `gpusim.hardware.memory.sm_memory`.
Omits: when it is that L2 begins to write back what it holds of written data.
Source: realkernels.microbench (tma, access, hbm, in_order, l2, far, sharing, dirty, overtaking); see the profile.

All SMs of a class are simulated as one, as if they were in step. They are so at the start; then
every load's jitter moves them further apart, and one SM's copy finds bandwidth that others leave
unused. So HBM saves what is not used, as far as the SMs have drifted apart and up to one round (a tile of
every resident CTA), and a copy may spend it (`Capacity.reserve`); what remains of the crowding
is measured and added as latency.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from math import inf

from gpusim.engine import Capacity, Flow, FluidSystem, Simulation
from gpusim.hardware.memory.access import BLOCK_BYTES, DENSE, GRANULE_BYTES, LINE_BYTES, SECTOR_BYTES, Access
from gpusim.hardware.memory.alignment import UNALIGNED
from gpusim.hardware.memory.atomics import Atomics
from gpusim.hardware.memory.demand import Demand
from gpusim.hardware.memory.gpc_sharing import GpcSharing
from gpusim.hardware.memory.loaded_latency import LoadedLatency, far_part
from gpusim.hardware.memory.miss_queue import MissQueue
from gpusim.hardware.memory.read_write_turnaround import MIX_LOSSES, left_when_mixed
from gpusim.hardware.memory.recent_load import RecentLoad
from gpusim.hardware.profile import DeviceProfile

__all__ = ["FEW_WRITES", "Memory"]

FEW_WRITES = 2e-3
"""Share of writes below which mixing costs nothing: results at the end of kernels that read."""
WIDTH = 12.0**0.5
"""Width of the uniform distribution with standard deviation 1: how long a crowd of SMs takes to pass."""


def _with_others(opened: float, completed: float) -> float:
    """Bytes that DRAM could move for a wanted one, where others want the rest of ``completed`` of what it opens."""
    return opened + completed * min(1.0 - opened, 0.0)


class Memory:
    """The memory system behind ``sms`` SMs, which want ``demand`` of it."""

    def __init__(self, sim: Simulation, profile: DeviceProfile, sms: int, demand: Demand) -> None:
        self.sim = sim
        self.profile = profile
        self.round_bytes = demand.round_bytes
        self.overtaking_s = profile.value("hbm.overtaking") / profile.value("sm.count")
        """HBM's time for an SM by which requests of it get ahead of those that came before them."""
        self.fluid = FluidSystem(sim)
        self._block_share = profile.value("hbm.read_block_share"), profile.value("hbm.write_block_share")
        self._strided_block_share = profile.value("hbm.read_block_share_strided")
        self._off_line = 0.0
        """Bytes of bulk loads off a line that are under way."""
        self._off_line_all, self._off_line_lost = 0.0, 0.0
        """Bytes of them that there have been, and what HBM could have read besides."""
        self._off_line_few, self._off_line_crowd, self._off_line_many = (
            profile.value(f"tma.off_line_{amount}_under_way") for amount in ("few", "crowd", "many")
        )
        """How many may be before they lose bandwidth, lose most of it, and lose none any more."""
        self._weigh_hbm(profile, demand)
        self._weigh_l2(profile, demand)
        self._open_ways(profile, demand)
        self.misses = MissQueue(self)
        self.gpc_sharing = GpcSharing(sim, profile, sms, self.l2, demand.apart_s)
        self._mix = RecentLoad(sim, self.hbm, self._written)
        self.latency = LoadedLatency(profile, sms, demand, self.hbm, RecentLoad(sim, self.hbm, self._written))
        """What comes to the latency of L2."""

    def _weigh_hbm(self, profile: DeviceProfile, demand: Demand) -> None:
        """What a byte read or written takes of HBM's time, and what mixing both loses of it."""
        value, in_order, kept = profile.value, demand.writes_in_order, demand.kept
        self._read_bytes_per_s = value("hbm.read_bandwidth")
        """What HBM reads if it does nothing else."""
        self._write_bytes_per_s = value("hbm.write_bandwidth") * (1.0 + in_order * value("hbm.write_in_order_gain"))
        """What HBM writes if it does nothing else."""
        self._read_weight = 1.0 / self._read_bytes_per_s
        # As long as L2 keeps what is written HBM only reads, and L2 takes in both: what that costs beyond the reads.
        # They leave room for writes on the way in, unless HBM is faster than that way: then reads fill it alone.
        filled = value("l2.fill_weight") + value("l2.read_command_bytes") / LINE_BYTES
        longer = filled / value("l2.write_bandwidth") - self._read_weight
        reads = demand.reads_per_write if longer < 0.0 else 0.0
        taken_in = (1.0 + filled * reads) / value("l2.write_bandwidth") - reads / self._read_bytes_per_s
        if demand.reads_per_write * FEW_WRITES < 1.0:
            self._read_weight += kept * max(longer, 0.0)
        self._write_weight = (1.0 - kept) / self._write_bytes_per_s + kept * max(taken_in, 0.0)
        mixed = demand.mixed
        self._mix_loss = tuple(
            mixed * ((1.0 - in_order) * value(name) + in_order * value(f"{name}_in_order")) for name in MIX_LOSSES
        )
        self._mixing_costs = any(self._mix_loss)

    def _weigh_l2(self, profile: DeviceProfile, demand: Demand) -> None:
        """Bytes of the ways into and out of L2 that requests, sectors and what comes from DRAM take."""
        value = profile.value
        self._l2_read_request = value("l2.read_request_bytes")
        self._l2_far = value("l2.far_request") * far_part(demand.footprint_bytes, value("l2.capacity"))
        """By how much longer a hit takes a request, on average over both halves."""
        # A request to write has a part of its own and one for each sector; a line of them takes as long as its bytes.
        request, sectors = value("l2.write_request_bytes"), LINE_BYTES / SECTOR_BYTES
        self._l2_write_sector = (LINE_BYTES - request) / (sectors - 1.0)
        self._l2_write_request = request - self._l2_write_sector
        self._l2_partial = value("l2.partial_sector")
        self._part_bytes = value("hbm.part_of_sector")
        # Where nothing is written the way in is never full.
        self._l2_command = value("l2.read_command_bytes") if demand.round_written_bytes else 0.0
        self._l2_fill = value("l2.fill_weight")

    def _open_ways(self, profile: DeviceProfile, demand: Demand) -> None:
        """HBM, in seconds of its time per second, so that reads and writes add up; and the ways of L2, in bytes."""
        value, read, written = profile.value, demand.round_bytes, demand.round_written_bytes
        worst = min(value(name) for name in UNALIGNED)
        full_s = read / self._read_bytes_per_s / worst + written / self._write_bytes_per_s
        drift_s = WIDTH * profile.seconds_of("dram.latency_jitter_many_lines")
        apart = _mean_drift(full_s, drift_s, demand.rounds) / full_s if full_s else 1.0
        self.hbm = Capacity("hbm", self._hbm_limit, reserve=apart * full_s)
        self.l2 = Capacity("l2", value("l2.read_bandwidth"), reserve=apart * read)
        round_in = written + read * (self._l2_fill + self._l2_command / LINE_BYTES)
        burst = self._burst(value("l2.write_bandwidth"), drift_s, demand)
        self.l2_in = Capacity("l2 in", value("l2.write_bandwidth"), reserve=max(apart * round_in, burst))
        self._fabric_bytes_per_s, self._l2_bytes_per_s = value("l2.fabric_bandwidth"), value("l2.read_bandwidth")
        self.fabric = Capacity("l2 fabric", self._fabric_limit, reserve=apart * read)
        self.l2_partial = Capacity(
            "l2 partial writes", value("l2.write_bandwidth"), reserve=max(apart * written, burst)
        )
        self._written = Capacity("hbm writes", inf)

    @staticmethod
    def _burst(bytes_per_s: float, drift_s: float, demand: Demand) -> float:
        """How much of what all CTAs write at once, and not in every round, finds SMs apart."""
        if demand.burst_bytes <= demand.round_written_bytes:
            return 0.0
        return _mean_drift(demand.burst_bytes / bytes_per_s, drift_s, demand.rounds) * bytes_per_s

    def _hbm_limit(self, flows: Collection[Flow]) -> float:
        """What is left of HBM's time at the mix of reads and writes of late, or of now when it has just begun."""
        written, used = self._written, self.hbm.used_total
        if not self._mixing_costs or written.used_total < FEW_WRITES * used or not (used or written.flows):
            return 1.0
        load, writes = self._mix.seen()
        if not load:
            load = sum(flow.multiplicity for flow in flows)
            writes = sum(flow.multiplicity for flow in self._written.flows)
        return left_when_mixed(writes / load if load else 0.0, self._mix_loss)

    def busy_s(self) -> tuple[float, float]:
        """Seconds for which HBM has been busy so far, and L2: with what it gives, or with what it takes in."""
        return self.hbm.used_total, max(way.used_total / way.limit for way in (self.l2, self.l2_in))

    @property
    def atomics_s(self) -> float:
        """Seconds for which what only atomics take has been busy so far."""
        return self.atomics.busy_s if "atomics" in self.__dict__ else 0.0

    def reads(
        self,
        access: Access,
        l2_hit: float,
        efficiency: float = 1.0,
        completed: float = 0.0,
        shared_by: float = 1.0,
        multicast: int = 1,
    ) -> list[tuple[Capacity, float]]:
        """What one byte between L2 and an SM takes of both ways and of HBM, used with ``efficiency``.

        ``completed``: part of it around which others read the rest. ``shared_by``: SMs of a GPC that want it, or one
        CTA of each cluster, which all of its ``multicast`` CTAs get it from.
        """
        fetched, served = access.fetched * multicast, 1.0
        uses = []
        if shared_by > 1.0:
            served = self.gpc_sharing.served(shared_by)
        if shared_by > 1.0 or multicast > 1:
            uses.append((self.gpc_sharing.into_gpcs, 1.0))
        request = self._l2_read_request * (1.0 + l2_hit * self._l2_far)
        uses.append((self.l2, max(access.fetched, access.lines * request) / fetched / served))
        if self._l2_command:
            filled = (1.0 - l2_hit) * _with_others(GRANULE_BYTES * access.granules, completed) * self._l2_fill
            uses.append((self.l2_in, (access.lines * self._l2_command + filled) / fetched))
        if l2_hit < 1.0:
            opened = self._opened(access, self._block_share[0] if access.scattered else self._strided_block_share)
            share = (1.0 - l2_hit) * _with_others(opened, completed) / fetched
            uses.append((self.hbm, share * self._read_weight / efficiency))
        return uses

    def meet(self) -> float:
        """All SMs are in step from now on, as at the start: nobody has left anything unused for others.

        Returns by when all has come, at the latest, that has been asked for.
        """
        self.fluid.used(self.hbm)
        for capacity in (self.hbm, self.l2, self.l2_in, self.l2_partial, self.fabric):
            capacity.credit = 0.0
        return self.misses.settled_s

    def read_s(self) -> float:
        """Seconds of HBM's time that reads have had so far."""
        return self.fluid.used(self.hbm) - self.fluid.used(self._written)

    def add_off_line(self, amount: float) -> None:
        """Bulk loads of ``amount`` bytes that start off a line are under way from now, or have arrived if negative."""
        self._off_line += amount
        if amount > 0.0:
            self._off_line_all += amount
            most = min(self._read_bytes_per_s, self._l2_bytes_per_s)
            self._off_line_lost += amount * max(1.0 - self._fabric_limit(()) / most, 0.0)

    @property
    def off_line_loss(self) -> float:
        """Part of HBM's bandwidth that bulk loads off a line have lost between the halves of L2, on average."""
        return self._off_line_lost / self._off_line_all if self._off_line_all else 0.0

    def _fabric_limit(self, _flows: Collection[Flow]) -> float:
        """Bytes per second of bulk loads off a line that pass between the halves of L2, by how many are under way."""
        if self._off_line <= self._off_line_few or self._off_line >= self._off_line_many:
            return self._l2_bytes_per_s
        least = self._off_line_few if self._off_line < self._off_line_crowd else self._off_line_many
        kept = (self._off_line - self._off_line_crowd) / (least - self._off_line_crowd)
        return self._fabric_bytes_per_s + kept * (self._read_bytes_per_s - self._fabric_bytes_per_s)

    def writes(
        self, access: Access, l2_hit: float, completed: float = 0.0, merged: float = 0.0
    ) -> list[tuple[Capacity, float]]:
        """Capacities that one stored byte takes: the way into L2 and, if it misses, HBM.

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
        share = (1.0 - l2_hit) / sent
        filled_s = 0.0
        if sent > 1.0:
            # What fills a sector is read between writes, not in the order of a stride.
            filled_s = (1.0 - completed) * self._opened(access, self._block_share[0]) * self._read_weight
            # Changing a sector takes longer than bringing it, which goes on meanwhile, and waits until it is filled.
            in_part = access.ends * self._l2_write_sector or sectors
            changed = request + (sectors - in_part) + self._l2_partial * in_part
            changed = changed / sent + share * filled_s * self.l2_partial.limit
            into_l2.append((self.l2_partial, changed))
        if l2_hit >= 1.0:
            return into_l2
        # A sector that another warp completes at another time goes on to DRAM once, but each part of it holds that up.
        written = _with_others(self._opened(access, self._block_share[1]), completed) + access.ends * self._part_bytes
        written_s = written * self._write_weight
        return [*into_l2, (self.hbm, share * (written_s + filled_s)), (self._written, share * written_s)]

    @cached_property
    def atomics(self) -> Atomics:
        """What atomics take of it."""
        return Atomics(self)

    def refills(self, access: Access, missed: float) -> tuple[list[tuple[Capacity, float]], float]:
        """What sectors that are read, changed and written back take of HBM, and its seconds for them, times ``missed``.

        Per byte that is wanted.
        """
        filled_s = missed * self._opened(access, self._block_share[0]) * self._read_weight
        written_s = missed * self._opened(access, self._block_share[1]) * self._write_weight
        return [(self.hbm, filled_s + written_s), (self._written, written_s)], filled_s + written_s

    @staticmethod
    def _opened(access: Access, share: float) -> float:
        """Bytes that DRAM could move in its time for a wanted one; opening a block is ``share`` of the time of one."""
        return share * BLOCK_BYTES * access.blocks + (1.0 - share) * GRANULE_BYTES * access.granules


def _mean_drift(full: float, per_round: float, rounds: float) -> float:
    """Mean over ``rounds`` of min(full, per_round * sqrt(n)): a random walk that ends when it has filled a round."""
    if per_round <= 0.0:
        return full
    filled = min((full / per_round) ** 2, rounds)
    if filled <= 0.0:
        return full
    return (filled * (2.0 / 3.0) * per_round * filled**0.5 + (rounds - filled) * full) / rounds
