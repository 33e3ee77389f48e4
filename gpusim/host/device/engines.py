"""Copy engines and the host link.

Models: one queue per direction (and one for copies to other devices), as many as the device has; an overhead per copy
  and a bandwidth; both are worse while the other direction is at work, and not by the same factor. Who came first goes
  first; after an engine has become free, ``copy.turn`` passes before it takes a copy that had to wait for another
  engine before. (The device goes round the streams in an order that depends on which channels the driver gave them.)
  While kernels keep HBM full, a copy waits for what they have asked for.
  With two engines copies between devices go through that of D2H; with one, everything goes through it in turn. With
  three, copies on the device itself are made by SMs (`device_copies`), or have an engine if ``copy.d2d_block`` is zero.
  A memset goes where these go. The engine of H2D also clears new memory.
Omits: copies of a few hundred bytes, which ride in the command stream; a host link that gets 5 % slower when three and
  more streams take turns in large copies to the device.
Source: realkernels.microbench.host (copies: size, duplex, same_direction; handover: period); copies_beside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gpusim.engine import Event, Flow, FluidSystem, Simulation
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.device.links import Links
from gpusim.program.host import OUTSIDE
from gpusim.timeline import Recorder

__all__ = ["CopyEngines"]

_ENGINE_OF = {
    1: {"h2d": "copy", "d2h": "copy", "d2d": "copy", "memset": "copy", "p2p": "copy"},
    2: {"h2d": "h2d", "d2h": "d2h", "d2d": "d2h", "memset": "d2h", "p2p": "d2h"},
    3: {"h2d": "h2d", "d2h": "d2h", "d2d": "d2d", "memset": "d2d", "p2p": "p2p"},
}
_CLEAR = "clear"
"""A direction of its own for memory that is new to the program: it moves nothing over the link."""
_OPPOSITE = {"h2d": "d2h", "d2h": "h2d"}
_ROUNDING = 1e-9


@dataclass(eq=False, slots=True)
class _Copy:
    """A copy that waits for its engine; ``polled``: its queue looks only now and then."""

    direction: str
    size: int
    chunk: int
    polled: bool
    silent: bool
    served: Callable[[float], None]
    done: Event
    target: int
    """Number of the device that is written, of a copy to another one."""


class _Engine:
    def __init__(self, sim: Simulation, name: str, turn_s: float, work: Callable[[_Copy, _Engine], None]) -> None:
        self.name, self._sim, self._turn_s, self._work = name, sim, turn_s, work
        self._waiting: list[_Copy] = []
        self._busy = False
        self._version = 0

    def add(self, copy: _Copy) -> None:
        self._waiting.append(copy)
        if not self._busy:
            self._start(copy)

    def free(self) -> None:
        """Take the next copy: at once if it waited for nothing but this engine, else after ``copy.turn``."""
        self._busy = False
        if not self._waiting:
            return
        at_once = [copy for copy in self._waiting if not copy.polled]
        copy = (at_once or self._waiting)[0]
        first = self._sim.now if at_once else self._sim.now + self._turn_s
        if first <= self._sim.now + _ROUNDING:
            self._start(copy)
            return
        self._version += 1
        version = self._version
        self._sim.call_after(first - self._sim.now, lambda _event: self._late(copy, version))

    def _late(self, copy: _Copy, version: int) -> None:
        if not self._busy and version == self._version:
            self._start(copy)

    def _start(self, copy: _Copy) -> None:
        self._waiting.remove(copy)
        self._busy = True
        self._version += 1
        self._work(copy, self)


class CopyEngines:
    """A device's copy engines; ``record`` is told what each one did, on lanes whose names begin with ``prefix``."""

    def __init__(
        self,
        sim: Simulation,
        profile: DeviceProfile,
        record: Recorder | None,
        links: Links,
        prefix: str = "",
        waits_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """``waits_s``: how much longer a copy from or to the host takes that begins now."""
        value = profile.value
        self._sim = sim
        self._record = record
        self._links = links
        self._waits_s = waits_s
        self._fluid = FluidSystem(sim, self._set_rates)
        count = max(1, min(3, int(value("copy.engines"))))
        names = _ENGINE_OF[count]
        self._under_way = dict.fromkeys(names, 0)
        self._rate = {d: value(f"copy.{d}_bandwidth") for d in names}
        self._overhead = {d: value(f"copy.{d}_overhead") for d in names}
        self._under_way[_CLEAR], self._rate[_CLEAR], self._overhead[_CLEAR] = 0, value("copy.clear_rate"), 0.0
        # Share of its own speed that a direction has beside the other one: for bytes, for the overhead.
        self._beside = {d: min(value(f"copy.{d}_duplex_bandwidth") / self._rate[d], 1.0) for d in _OPPOSITE}
        slower = {d: value(f"copy.{d}_duplex_overhead") for d in _OPPOSITE}
        self._beside_overhead = {
            d: self._overhead[d] / s if (s := slower[d]) > self._overhead[d] else 1.0 for d in slower
        }
        self.on_sms = count == 3 and value("copy.d2d_block") > 0
        """Whether copies within the device and memsets are left to the SMs."""
        turn_s = value("copy.turn")
        engines = {
            n: _Engine(sim, f"{prefix}copy_engine[{n}]", turn_s, self._work) for n in dict.fromkeys(names.values())
        }
        self._engine = {direction: engines[name] for direction, name in names.items()}
        self._engine[_CLEAR] = self._engine["h2d"]

    def _set_rates(self, flows: list[Flow]) -> None:
        for flow in flows:
            direction, moving = flow.tag
            opposite = _OPPOSITE.get(direction)
            flow.rate = flow.bound
            if opposite is not None and self._under_way[opposite]:
                flow.rate *= (self._beside if moving else self._beside_overhead)[direction]

    def copy(
        self, direction: str, size: int, chunk: int = -1, *, polled: bool = False, silent: bool = False,
        served: Callable[[float], None], target: int = OUTSIDE,
    ) -> Event:  # fmt: skip
        """Queue a copy; the event is its end, ``served`` is told when it began. ``silent``: leave no interval.

        ``target``: number of the device that gets it, if that is another one.
        """
        done = self._sim.event()
        self._engine[direction].add(_Copy(direction, size, chunk, polled, silent, served, done, target))
        return done

    def clear(self, size: int) -> None:
        """Queue the clearing of new memory; no profiler shows it, so it leaves no interval."""
        self.copy(_CLEAR, size, silent=True, served=lambda _start: None)

    def _work(self, copy: _Copy, engine: _Engine) -> None:
        """The overhead, then the bytes."""
        start, overhead = self._sim.now, self._overhead[copy.direction]
        if copy.direction in _OPPOSITE:
            overhead += self._waits_s()
        self._under_way[copy.direction] += 1
        if overhead > 0.0:
            flow = self._fluid.start(overhead, [], bound=1.0, tag=(copy.direction, False))
            flow.callbacks.append(lambda _event: self._move(copy, engine, start))
        else:
            self._move(copy, engine, start)

    def _move(self, copy: _Copy, engine: _Engine, start: float) -> None:
        if copy.direction == "p2p":
            moving = self._links.move(float(copy.size), copy.target)
        else:
            rate = self._rate[copy.direction]
            moving = self._fluid.start(float(copy.size), [], bound=rate, tag=(copy.direction, True))
        moving.callbacks.append(lambda _event: self._moved(copy, engine, start))

    def _moved(self, copy: _Copy, engine: _Engine, start: float) -> None:
        if not copy.silent:
            self._note(engine.name, start, copy.chunk, copy.size)
        self._under_way[copy.direction] -= 1
        copy.served(start)
        copy.done.succeed()
        # Work that this end sets free is queued in the same instant, before the engine looks for more.
        self._sim.call_late(engine.free)

    def record(self, direction: str, start_s: float, chunk: int, size: int) -> None:
        """An interval up to now for copies that were made silently."""
        self._note(self._engine[direction].name, start_s, chunk, size)

    def _note(self, lane: str, start_s: float, chunk: int, size: int) -> None:
        if self._record is not None:
            self._record(lane, "transfer", start_s, self._sim.now, "", chunk, -1, size)
