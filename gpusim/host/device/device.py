"""One device at work: copies on its engines, kernels on its SMs.

Models: copies and memsets within the device as kernels, where it has engines for both directions (`device_copies`);
  both are drawn as copies, because they move bytes for others and compute nothing.
Omits: what copies from and to the host take of the memory bandwidth of kernels beside them.
Source: realkernels.microbench.host (device: kernel_d2d_kernel, with gaps as between kernels; copies: copy_beside).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial

from gpusim.engine import Simulation
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.device.blocks import BlockScheduler
from gpusim.host.device.device_copies import transfer_work
from gpusim.host.device.drawing import Drawing
from gpusim.host.device.engines import CopyEngines
from gpusim.host.device.kernel_times import KernelTimes
from gpusim.host.device.left_written import LeftWritten
from gpusim.host.device.links import Links
from gpusim.host.device.work import Item, Staged
from gpusim.program.host import ON_DEVICE, OUTSIDE, Launch, MemcpyAsync, MemsetAsync, RooflineCost, Work
from gpusim.timeline import Timeline

__all__ = ["Device"]


class Device:
    """The engines and SMs of one device; ``prefix`` begins the names of its engines' lanes."""

    def __init__(
        self, sim: Simulation, profile: DeviceProfile, times: KernelTimes, links: Links, drawing: Drawing, prefix: str
    ) -> None:
        self._sim, self._profile, self._times, self._drawing = sim, profile, times, drawing
        self._blocks = BlockScheduler(sim, profile)
        self.engines = CopyEngines(sim, profile, drawing.record, links, prefix, self._blocks.copy_waits_s)
        self._left = LeftWritten(profile)
        self.zooms: list[tuple[str, float, float, Callable[[], Timeline]]] = []
        """(lane, start, end, what gives the timeline alone on the device) of each kernel program that ran."""

    def run(self, item: Item) -> Generator:
        """Do the work of an item that may start."""
        op = item.op
        if isinstance(op, Staged):
            yield from self._staged(item, op)
        elif isinstance(op, MemcpyAsync | MemsetAsync) and op.direction in ON_DEVICE and self.engines.on_sms:
            yield from self._copy_on_sms(item, op)
        elif isinstance(op, MemcpyAsync | MemsetAsync):
            yield from self._on_engine(item, op)
            self._draw(item, "copy", "copy_engine_busy", op.bytes)
        elif isinstance(op, Launch):
            yield from self._kernel(item, op)

    def _on_engine(self, item: Item, op: MemcpyAsync | MemsetAsync | Staged) -> Generator:
        def served(start_s: float) -> None:
            item.start_s = start_s

        silent = isinstance(op, Staged)
        # Pulled, it is the stream's own device that gets it.
        target = item.stream.spec.device if item.pulled else getattr(op, "peer", OUTSIDE)
        yield self.engines.copy(
            op.direction, op.bytes, item.chunk, polled=item.polled, silent=silent, served=served, target=target
        )

    def _on_sms(self, item: Item, work: Work) -> Generator:
        def placed(count: int) -> None:
            if item.start_s < 0.0:
                item.start_s = self._sim.now
            if count > item.crowd:
                item.crowd, item.crowded_s = count, self._sim.now
            if item.behind is not None:
                item.behind.followed_by = item

        def triggered() -> None:
            item.triggered_s = self._sim.now
            if item.triggered is not None:
                item.triggered.succeed()

        yield self._blocks.launch(work, item.stream.spec.priority, placed, triggered, item.released, item.following)

    def _staged(self, item: Item, op: Staged) -> Generator:
        """A part of a copy; together they are one interval, as a profiler shows it."""
        yield from self._on_engine(item, op)
        whole = op.whole
        whole.first = first = whole.first or item
        whole.bytes += op.bytes
        if op.last:
            item.start_s = first.start_s
            self.engines.record(op.direction, item.start_s, item.chunk, whole.bytes)
            self._draw(item, "copy", "copy_engine_busy", whole.bytes, first)

    def _copy_on_sms(self, item: Item, op: MemcpyAsync | MemsetAsync) -> Generator:
        read = 0.0 if isinstance(op, MemsetAsync) else op.bytes
        yield from self._on_sms(item, self._left.behind(transfer_work(self._profile, op), read, op.bytes))
        self.engines.record(op.direction, item.start_s, item.chunk, op.bytes)
        self._draw(item, "copy", "cta_slot", op.bytes)

    def _kernel(self, item: Item, op: Launch) -> Generator:
        work, zoom = self._times.work(op.kernel)
        yield from self._on_sms(item, self._left.behind(work, *_moved(work, zoom)))
        self._draw(item, "kernel", "cta_slot")
        if zoom is not None:
            shown = partial(self._times.drawn, op.kernel, item.released_s - item.start_s, item.seen_following)
            self.zooms.append((f"{item.lane}.kernel[{max(item.chunk, 0)}]", item.start_s, self._sim.now, shown))

    def _draw(self, item: Item, kind: str, resource: str, size: int = 0, first: Item | None = None) -> None:
        self._drawing.item(item, self._sim.now, kind, resource, size, first)


def _moved(work: Work, timeline: Timeline | None) -> tuple[float, float]:
    """Bytes that a kernel reads and writes; of one that says its duration nobody knows."""
    if timeline is not None:
        return timeline.meta["bytes_read"], timeline.meta["bytes_written"]
    cost = work.cost
    return (cost.bytes - cost.writes, cost.writes) if isinstance(cost, RooflineCost) else (0.0, 0.0)
