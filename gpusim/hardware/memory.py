"""L2 and HBM as all SMs share them, and the way of one SM to them.

Models: the bandwidth of HBM (reads and writes cost differently, mixing them costs more) and
  of L2, shared max-min fairly by all SMs; per SM one FIFO for bulk copies (TMA) and one for
  loads and cp.async (LSU path), both behind the SM's port; latency to L2 and to DRAM, which
  rises as HBM fills up; SMs that are out of step lend each other their share (the reserve).
Omits: L2 partitions (latency is the mean of near and far), channel conflicts beyond what
  the measured loaded latency holds, TLB misses.
Source: realkernels.microbench (tma, ldg, hbm, l2, latency); see each quantity of the profile.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf

import simpy

from gpusim.engine import Capacity, FifoServer, Flow, FluidSystem, Simulation
from gpusim.hardware.profile import DeviceProfile

__all__ = ["Memory", "SmMemory"]


class Memory:
    """The memory system behind all SMs. ``in_flight_bytes`` is what all SMs can have under way."""

    def __init__(self, sim: Simulation, profile: DeviceProfile, in_flight_bytes: float) -> None:
        self.sim = sim
        self.profile = profile
        self.fluid = FluidSystem(sim)
        read, write = profile.value("hbm.read_bandwidth"), profile.value("hbm.write_bandwidth")
        self._read_weight, self._write_weight = 1.0 / read, 1.0 / write
        self._mix_loss = profile.value("hbm.mix_loss")
        # In seconds of HBM time per second, so that reads and writes add up.
        self.hbm = Capacity("hbm", self._hbm_limit, reserve=in_flight_bytes / read)
        self.l2 = Capacity("l2", profile.value("l2.read_bandwidth"))
        self._busy_s = 0.0
        self._busy_at_s = 0.0
        self._load_average = 0.0
        self._average_over_s = profile.value("hbm.load_average_time")
        self._queue_s = profile.value("hbm.queue_time")

    def _hbm_limit(self, flows: list[Flow]) -> float:
        if not self._mix_loss:
            return 1.0
        write = sum(flow.multiplicity for flow in flows if flow.tag == "write")
        total = sum(flow.multiplicity for flow in flows)
        share = write / total if total else 0.0
        return 1.0 - self._mix_loss * 4.0 * share * (1.0 - share)

    def uses(self, l2_hit: float, write: bool) -> list[tuple[Capacity, float]]:
        """What one byte takes of L2 and HBM."""
        uses = [(self.l2, 1.0)]
        weight = self._write_weight if write else self._read_weight
        if l2_hit < 1.0 and weight > 0.0:
            uses.append((self.hbm, (1.0 - l2_hit) * weight))
        return uses

    def queueing_s(self) -> float:
        """Extra latency of a request that meets the present load of HBM."""
        if not self._queue_s:
            return 0.0
        now = self.sim.now
        elapsed = now - self._busy_at_s
        if elapsed > 0.0:
            used = self.hbm.used_total + self.hbm.used_rate * 0.0
            load = (used - self._busy_s) / elapsed
            keep = exp(-elapsed / self._average_over_s)
            self._load_average = keep * self._load_average + (1.0 - keep) * min(load, 1.0)
            self._busy_s, self._busy_at_s = used, now
        return self._queue_s * self._load_average


class SmMemory:
    """One SM's way to memory (or that of ``multiplicity`` SMs in step)."""

    def __init__(
        self,
        memory: Memory,
        lane: str,
        multiplicity: int,
        trace: Callable[..., int] | None,
    ) -> None:
        profile = memory.profile
        clock = profile.clock_hz
        self._memory = memory
        self._lane = lane
        self._trace = trace
        # The port belongs to one SM while flows count with their multiplicity.
        self._port = Capacity(f"{lane}.port", multiplicity * profile.value("sm.port_bandwidth") * clock)
        self._tma = FifoServer(
            memory.sim, f"{lane}.tma", memory.fluid, profile.value("tma.bandwidth") * clock,
            overhead_s=profile.cycles("tma.overhead"), multiplicity=multiplicity,
        )  # fmt: skip
        self._lsu = FifoServer(
            memory.sim, f"{lane}.lsu", memory.fluid, profile.value("lsu.bandwidth") * clock,
            multiplicity=multiplicity,
        )  # fmt: skip
        self._latency = {
            "tma": (profile.cycles("tma.l2_latency"), profile.cycles("tma.dram_latency")),
            "lsu": (profile.cycles("lsu.l2_latency"), profile.cycles("lsu.dram_latency")),
        }
        self._store_latency = profile.cycles("tma.store_latency")

    def load(self, unit: str, amount: float, l2_hit: float, tile: int = -1, stage: int = -1) -> simpy.Event:
        """Fetch ``amount`` bytes; the event is the arrival of the last of them."""
        return self._request(unit, amount, l2_hit, False, tile, stage)

    def store(self, unit: str, amount: float, tile: int = -1, stage: int = -1) -> simpy.Event:
        """Write ``amount`` bytes; the event is the moment they have reached memory."""
        return self._request(unit, amount, 0.0, True, tile, stage)

    def _request(
        self, unit: str, amount: float, l2_hit: float, write: bool, tile: int, stage: int
    ) -> simpy.Event:
        memory = self._memory
        near, far = self._latency[unit]
        if write:
            latency: Callable[[], float] | float = self._store_latency
        elif l2_hit >= 1.0:
            latency = near
        else:
            # The last byte decides, so any miss means the latency of DRAM.
            latency = lambda: far + memory.queueing_s()  # noqa: E731
        server = self._tma if unit == "tma" else self._lsu
        served = None
        if self._trace is not None:
            trace, lane = self._trace, server.name

            def served(start_s: float, end_s: float) -> None:
                trace(lane, "transfer", start_s, end_s, "", tile, stage, int(amount))

        return server.request(
            amount,
            [(self._port, 1.0), *memory.uses(l2_hit, write)],
            latency_s=latency,
            bound=inf,
            served=served,
        )
