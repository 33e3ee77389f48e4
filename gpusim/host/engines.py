"""Copy engines and the host link.

Models: one FIFO per direction (and one for copies between devices), as many as the device has; an
  overhead per copy and a bandwidth; both directions share what the link carries in total.
  With two engines copies on the device and between devices go through that of D2H; with one,
  everything goes through it in turn.
Omits: the size-dependence of the rate beyond the overhead; copies the driver hides in the command stream.
Source: hardware.md 2.13; realkernels.microbench.host (copies).
"""

from __future__ import annotations

from collections.abc import Callable

import simpy

from gpusim.engine import Capacity, FifoServer, FluidSystem, Simulation
from gpusim.hardware.profile import DeviceProfile

__all__ = ["CopyEngines"]

_ENGINE_OF = {
    1: {"h2d": "copy", "d2h": "copy", "d2d": "copy", "p2p": "copy"},
    2: {"h2d": "h2d", "d2h": "d2h", "d2d": "d2h", "p2p": "d2h"},
    3: {"h2d": "h2d", "d2h": "d2h", "d2d": "d2d", "p2p": "p2p"},
}


class CopyEngines:
    """The device's copy engines; ``record(lane, start_s, end_s, chunk, bytes)`` is told what they did."""

    def __init__(self, sim: Simulation, profile: DeviceProfile, record: Callable[..., int] | None) -> None:
        self._sim = sim
        self._record = record
        self._fluid = FluidSystem(sim)
        self._link = Capacity("host link", profile.value("copy.duplex_bandwidth"))
        self._rate = {d: profile.value(f"copy.{d}_bandwidth") for d in ("h2d", "d2h", "d2d", "p2p")}
        self._overhead = {d: profile.value(f"copy.{d}_overhead") for d in ("h2d", "d2h", "d2d", "p2p")}
        names = _ENGINE_OF[max(1, min(3, int(profile.value("copy.engines"))))]
        fastest = max(self._rate.values())
        servers = {name: FifoServer(sim, f"copy_engine[{name}]", self._fluid, fastest) for name in set(names.values())}
        self._server = {direction: servers[name] for direction, name in names.items()}

    def copy(
        self, direction: str, size: int, chunk: int = -1, rate: float = float("inf"),
        served: Callable[[float, float], None] | None = None,
    ) -> simpy.Event:  # fmt: skip
        """Queue a copy of at most ``rate`` bytes/s; the event is its end, ``served`` is told when it ran."""
        server = self._server[direction]
        bound = min(self._rate[direction], rate)
        # The overhead is engine time: bytes that would have been copied meanwhile are added, but
        # only the copied ones use the link. Two requests in a row keep them apart.
        finished = self._sim.event()
        uses = [(self._link, 1.0)] if direction in ("h2d", "d2h") else []
        overhead = self._overhead[direction]
        begun: list[float] = []

        def started(start_s: float, _end_s: float) -> None:
            begun.append(start_s)

        def ended(start_s: float, end_s: float) -> None:
            start = begun[0] if begun else start_s
            if self._record is not None:
                self._record(server.name, "transfer", start, end_s, "", chunk, -1, size)
            if served is not None:
                served(start, end_s)
            finished.succeed()

        if overhead > 0.0:
            server.request(overhead, [], bound=1.0, served=started)
        server.request(float(max(size, 0)), uses, bound=bound, served=ended)
        return finished
