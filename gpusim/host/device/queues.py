"""The hardware queues through which the work of streams gets to an engine.

Models: so many queues per engine. A stream keeps the one it has for as long as nobody else has used it. Else it takes
  one in which nothing waits, or, when there is none, shares the one that was used longest ago: its work is handed out
  behind another stream's, whatever that waits for.
Source: realkernels.microbench.host (rules: channels, aliases); the channels of kernels in activity records of 6 to 24
  streams that wait for each other (`layer_pipeline`); CUDA_DEVICE_MAX_CONNECTIONS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpusim.engine import Event, Simulation
from gpusim.host.device.work import Item, StreamState

__all__ = ["HardwareQueues"]


@dataclass(eq=False, slots=True)
class _Queue:
    last: Item


class HardwareQueues:
    """The queues of all engines of all devices; ``counts`` says how many an engine has.

    Engines that are not in it have no limit.
    """

    def __init__(self, sim: Simulation, counts: Mapping[str, int]) -> None:
        self._sim, self._counts = sim, counts
        self._queues: dict[tuple[int, str], list[_Queue]] = {}
        self._handed_out: dict[Item, Event] = {}
        self._of: dict[tuple[StreamState, int, str], tuple[Item, _Queue]] = {}

    def put(self, item: Item) -> Item | None:
        """Give an item its place; returns what is handed out before it, if that has not been yet."""
        self._handed_out[item] = self._sim.event()
        queues = self._queues.setdefault((item.device, item.engine), [])
        waiting = [queue for queue in queues if not self._handed_out[queue.last].triggered]
        queue = next((queue for queue in queues if queue not in waiting), None)
        before = self._of.get((item.stream, item.device, item.engine))
        if before is not None and before[1].last is before[0]:
            queue = before[1]
        if queue is None and len(queues) < self._counts.get(item.engine, len(queues) + 1):
            queue = _Queue(item)
        else:
            queue = queue or queues[0]
            queues.remove(queue)
        # In the order of their last use.
        queues.append(queue)
        self._of[item.stream, item.device, item.engine] = (item, queue)
        ahead, queue.last = queue.last, item
        return ahead if queue in waiting else None

    def handed_out(self, item: Item) -> Event:
        """Happens when an item has been handed to its engine."""
        return self._handed_out[item]

    def others(self, item: Item) -> int:
        """How many other queues of its engine hold work of other streams that waits."""
        return sum(
            queue.last.stream is not item.stream and not self._handed_out[queue.last].triggered
            for queue in self._queues[item.device, item.engine]
        )
