"""What a piece of work leaves on its stream's lane: the waits before it, and itself."""

from __future__ import annotations

from collections import defaultdict

from gpusim.host.device.work import Item
from gpusim.program.host import Launch
from gpusim.timeline import Recorder

__all__ = ["Drawing"]


class Drawing:
    """Draws with ``record``, or not at all if that is None."""

    def __init__(self, record: Recorder | None) -> None:
        self.record = record
        self.kernel_names: dict[str, list[str]] = defaultdict(list)
        """Of the kernels on each lane, in their order."""

    def item(
        self, item: Item, end_s: float, kind: str, resource: str = "", size: int = 0, first: Item | None = None
    ) -> None:
        """An item that ends now, and the waits before it.

        It waited until it was ready, and from then on for ``resource``. ``first`` is the part of it that did so.
        """
        if self.record is None:
            return
        first, stream = first or item, item.stream
        if isinstance(item.op, Launch):
            self.kernel_names[item.lane].append(item.op.kernel.name)
        if item.behind is not None and item.start_s < stream.free_s:
            # Both run at the same time, as a profiler shows them.
            stream.free_s = max(stream.free_s, end_s)
            cause = item.behind.row
            item.row = self.record(item.lane, kind, item.start_s, end_s, "", item.chunk, -1, size, cause)
            return
        start = max(item.start_s, stream.free_s)
        begin = max(stream.free_s, first.enqueued_s)
        ready = min(max(first.ready_s, begin), start)
        if ready > begin:
            cause = max((dep for dep, _ in first.deps if dep.row >= 0), key=lambda dep: dep.end_s, default=None)
            self.record(item.lane, "wait", begin, ready, first.reason, item.chunk, -1, 0, cause.row if cause else -1)
        if start > ready:
            # Who had taken it is not known here.
            self.record(item.lane, "wait", ready, start, resource, item.chunk)
        stream.free_s = end_s
        item.row = self.record(item.lane, kind, start, stream.free_s, "", item.chunk, -1, size)
