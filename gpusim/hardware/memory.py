"""L2 and HBM as all SMs share them, and the way of one SM to them.

Models: the bandwidth of HBM (reads and writes cost differently, mixing them costs more) and
  of L2, shared max-min fairly by all SMs; per SM a FIFO for bulk loads and one for bulk stores (TMA),
  per CTA one for loads through the shared load-store path (LSU), all behind the SM's port; latency to L2 and to DRAM,
  where a copy of many lines waits for its slowest one; what a loaded HBM adds to it; the
  bandwidth lost when copies do not start on a line of 128 bytes or a sector of 32.
Omits: L2 partitions (latency is that of the near one), translation misses, channel conflicts beyond
  what the measured latencies hold.
Source: realkernels.microbench (tma, burst, ldg, cpasync, hbm, l2, latency); see the profile.

All SMs of a class are simulated as one, as if they were in step. They are so at the start; then
every load's jitter moves them further apart, and one SM's copy finds bandwidth that others leave
unused. So HBM saves what is not used, as far as the SMs have drifted apart and up to one round (a tile of
every resident CTA), and a copy may spend it (`Capacity.reserve`); what remains of the crowding
is measured and added as latency.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import exp

from gpusim.engine import Capacity, Event, FifoServer, Flow, FluidSystem, Simulation
from gpusim.hardware.profile import DeviceProfile

__all__ = ["Memory", "SmMemory"]

QUEUE_ROUNDING = 0.05
"""Keeps the queue finite at full load, where a closed system of SMs cannot wait for ever."""
LINE_BYTES = 128
SECTOR_BYTES = 32
WIDTH = 12.0**0.5
"""Width of the uniform distribution with standard deviation 1: how long a crowd of SMs takes to pass."""
LOAD_AVERAGE_S = 4e-6
"""Time over which the load of HBM is averaged: some turns of a tile loop."""


class Memory:
    """The memory system behind ``sms`` SMs.

    ``round_bytes`` is one tile of every resident CTA, ``rounds`` how many of them there will be.
    """

    def __init__(self, sim: Simulation, profile: DeviceProfile, sms: int, round_bytes: float, rounds: float) -> None:
        self.sim = sim
        self.profile = profile
        self.fluid = FluidSystem(sim)
        read, write = profile.value("hbm.read_bandwidth"), profile.value("hbm.write_bandwidth")
        self._read_weight, self._write_weight = 1.0 / read, 1.0 / write
        self._mix_loss = profile.value("hbm.mix_loss")
        # In seconds of HBM time per second, so that reads and writes add up.
        worst = min(
            profile.value(f"{unit}.unaligned_{kind}_efficiency")
            for unit in ("tma", "lsu")
            for kind in ("sector", "line")
        )
        full_s = round_bytes / read / worst
        apart = _mean_drift(full_s, WIDTH * profile.cycles("dram.latency_jitter"), rounds) / full_s if full_s else 1.0
        self.hbm = Capacity("hbm", self._hbm_limit, reserve=apart * full_s)
        self.l2 = Capacity("l2", profile.value("l2.read_bandwidth"), reserve=apart * round_bytes)
        self._burst_s_per_byte = profile.value("hbm.burst_contention") * sms / read
        self._queue_s = profile.value("hbm.queue_time")
        self._dram = tuple(profile.cycles(key) for key in ("dram.latency", "dram.latency_many_lines"))
        self._many_lines = profile.value("dram.many_lines")
        self._seen_s = self._seen_total = 0.0
        self._average = self._weight = 0.0

    def _hbm_limit(self, flows: list[Flow]) -> float:
        if not self._mix_loss:
            return 1.0
        write = sum(flow.multiplicity for flow in flows if flow.tag == "write")
        total = sum(flow.multiplicity for flow in flows)
        share = write / total if total else 0.0
        return 1.0 - self._mix_loss * 4.0 * share * (1.0 - share)

    def uses(self, l2_hit: float, write: bool, efficiency: float = 1.0) -> list[tuple[Capacity, float]]:
        """What one byte takes of L2 and HBM, whose lines are used with ``efficiency``."""
        uses = [(self.l2, 1.0)]
        weight = self._write_weight if write else self._read_weight / efficiency
        if l2_hit < 1.0 and weight > 0.0:
            uses.append((self.hbm, (1.0 - l2_hit) * weight))
        return uses

    def dram_latency_s(self, amount: float, slowest_of: float) -> float:
        """Latency beyond that of L2 of a request for ``amount`` bytes from DRAM.

        It ends with the slowest of the lines in ``slowest_of`` bytes.
        """
        one, many = self._dram
        lines = max(slowest_of / LINE_BYTES, 1.0)
        spread = (many - one) * (1.0 - exp(-(lines - 1.0) / self._many_lines)) if self._many_lines else 0.0
        load = self._load()
        crowd = self._burst_s_per_byte * load * amount
        queue = self._queue_s * load / (1.0 - load + QUEUE_ROUNDING)
        return one + spread + crowd + queue

    def _load(self) -> float:
        """Utilisation of HBM, averaged over the last `LOAD_AVERAGE_S`."""
        now = self.sim.now
        elapsed = now - self._seen_s
        if elapsed > 0.0:
            keep = exp(-elapsed / LOAD_AVERAGE_S)
            used = (self.hbm.used_total - self._seen_total) / elapsed
            self._average = keep * self._average + (1.0 - keep) * used
            self._weight = keep * self._weight + (1.0 - keep)
            self._seen_s, self._seen_total = now, self.hbm.used_total
        return min(self._average / self._weight, 1.0) if self._weight else 0.0


def _mean_drift(full: float, per_round: float, rounds: float) -> float:
    """Mean over ``rounds`` of min(full, per_round * sqrt(n)): a random walk that ends when it has filled a round."""
    if per_round <= 0.0:
        return full
    filled = min((full / per_round) ** 2, rounds)
    if filled <= 0.0:
        return full
    return (filled * (2.0 / 3.0) * per_round * filled**0.5 + (rounds - filled) * full) / rounds


class SmMemory:
    """One SM's way to memory (or that of ``multiplicity`` SMs in step)."""

    def __init__(self, memory: Memory, lane: str, multiplicity: int, trace: Callable[..., int] | None) -> None:
        profile = memory.profile
        self._memory = memory
        self._trace = trace
        self.stored_s = 0.0
        """When the last store so far was done; a kernel ends no earlier."""
        clock = profile.clock_hz
        # The port belongs to one SM while flows count with their multiplicity.
        self._port = Capacity(f"{lane}.port", multiplicity * profile.value("sm.port_bandwidth") * clock)

        def server(name: str, key: str) -> FifoServer:
            rate = profile.value(key) * clock
            return FifoServer(memory.sim, f"{lane}.{name}", memory.fluid, rate, multiplicity=multiplicity)

        self._bulk_loads = server("tma", "tma.bandwidth")
        # The warps of an SM take turns at the load-store pipe, so one CTA's requests do not hold up another's.
        self._lsu = Capacity(f"{lane}.lsu", multiplicity * profile.value("lsu.bandwidth") * clock)
        self._lsu_loads: dict[str, FifoServer] = defaultdict(lambda: server("lsu", "lsu.bandwidth"))
        self._lsu_drawn_s = 0.0
        self._stores = {"tma": server("tma.store", "tma.store_bandwidth"), "lsu": server("lsu.store", "lsu.bandwidth")}
        self._efficiency = {
            unit: (
                profile.value(f"{unit}.unaligned_sector_efficiency"),
                profile.value(f"{unit}.unaligned_line_efficiency"),
            )
            for unit in ("tma", "lsu")
        }
        self._near_s = {
            "tma": profile.cycles("tma.l2_latency"),
            "ldg": profile.cycles("lsu.ldg_l2_latency"),
            "cp_async": profile.cycles("lsu.cp_async_l2_latency"),
        }

    def load(
        self,
        path: str,
        amount: float,
        l2_hit: float,
        align: int,
        cta: str,
        tile: int = -1,
        stage: int = -1,
        slowest_of: float | None = None,
        cause: int = -1,
    ) -> Event:
        """Fetch ``amount`` bytes by "tma", "ldg" or "cp_async" for the CTA in slot ``cta``.

        The event is the arrival of the last of them.

        ``slowest_of``: bytes whose slowest line is waited for, if not all of them. ``cause``:
        index of the interval that issued the request.
        """
        unit = "tma" if path == "tma" else "lsu"
        server = self._bulk_loads if unit == "tma" else self._lsu_loads[cta]
        sector, line = self._efficiency[unit]
        efficiency = 1.0 if align >= LINE_BYTES else line if align >= SECTOR_BYTES else sector
        near = self._near_s[path]
        missed = amount * (1.0 - l2_hit)
        lines = missed if slowest_of is None else slowest_of * (1.0 - l2_hit)

        def latency() -> float:
            return near + self._memory.dram_latency_s(missed, lines) if missed else near

        uses = [(self._port, 1.0), *self._memory.uses(l2_hit, write=False, efficiency=efficiency)]
        if unit == "lsu":
            uses.append((self._lsu, 1.0))
        return server.request(
            amount,
            uses,
            latency_s=latency,
            served=self._served(server, amount, tile, stage, cause),
            # DRAM answers in any order, so copies that wait for it come closer together.
            passes_on=missed > 0.0,
        )

    def store(self, path: str, amount: float, tile: int = -1, stage: int = -1, cause: int = -1) -> Event:
        """Write ``amount`` bytes by "tma" or "lsu"; the event is the moment their source has been read."""
        server = self._stores[path]
        uses = [(self._port, 1.0), *self._memory.uses(0.0, write=True)]
        done = server.request(amount, uses, served=self._served(server, amount, tile, stage, cause), tag="write")
        done.callbacks.append(self._stored)
        return done

    def _stored(self, _event: Event) -> None:
        self.stored_s = self._memory.sim.now

    def _served(
        self, server: FifoServer, amount: float, tile: int, stage: int, cause: int
    ) -> Callable[[float, float], None] | None:
        if self._trace is None:
            return None
        trace, lane = self._trace, server.name

        def draw(start_s: float, end_s: float) -> None:
            if lane == self._lsu.name:
                # Drawn one after another, each as long as it keeps the shared pipe busy.
                end_s -= start_s - max(start_s, self._lsu_drawn_s)
                start_s = max(start_s, self._lsu_drawn_s)
                self._lsu_drawn_s = end_s
            trace(lane, "transfer", start_s, end_s, "", tile, stage, int(amount), cause)

        return draw
