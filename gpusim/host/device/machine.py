"""Everything behind the runtime calls: the devices of a program, its streams, the thread of host functions.

Models: devices of one kind, each with SMs and engines of its own, which see each other's memory; what waits for another
  device's work is said by `handover`.
Omits: more than one device on a link to the host (two on links of their own do not slow each other down, `peers`);
  what copies between devices take of the memory bandwidth of kernels beside them.
Source: realkernels.microbench.host (peers: beside).
"""

from __future__ import annotations

from collections.abc import Generator

from gpusim.engine import Simulation
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.costs import HostCosts
from gpusim.host.device.device import Device
from gpusim.host.device.drawing import Drawing
from gpusim.host.device.functions import HostFunctions
from gpusim.host.device.kernel_times import KernelTimes
from gpusim.host.device.links import Links
from gpusim.host.device.streams import Streams
from gpusim.host.device.work import Item
from gpusim.program.host import HostFunc, HostProgram
from gpusim.timeline import Recorder

__all__ = ["Machine"]


class Machine:
    """What a program runs on. ``record`` adds an interval, or is None."""

    def __init__(
        self, sim: Simulation, program: HostProgram, profile: DeviceProfile, costs: HostCosts,
        record: Recorder | None, exact: bool,
    ) -> None:  # fmt: skip
        self.profile, self.costs = profile, costs
        self.drawing = drawing = Drawing(record)
        times = KernelTimes(program, profile, exact, trace=record is not None)
        several = program.devices > 1
        prefixes = [f"gpu[{number}]." if several else "" for number in range(program.devices)]
        self.streams = Streams(sim, program, profile, self._execute, prefixes)
        self.functions = HostFunctions(sim, program, costs, self.streams, drawing)
        links = Links(sim, profile, program.devices)
        self.devices = [Device(sim, profile, times, links, drawing, prefix) for prefix in prefixes]

    def _execute(self, item: Item) -> Generator:
        if isinstance(item.op, HostFunc):
            return self.functions.run(item, item.op)
        return self.devices[item.device].run(item)
