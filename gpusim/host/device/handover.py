"""How long the device takes from one piece of work to the next.

Models: a queue per stream and engine (kernels, one per copy direction). Within one queue the next piece of work
  follows at once. Between two of them a semaphore is waited for, and whoever found it closed looks again every
  ``stream.retry``. When it opens between two looks nobody models: at an even spread of phases, the same in every run.
  From the third queue of kernels on, each in which work waits makes the round ``stream.retry_more`` longer. A host
  function is called by way of the queue of kernels, so behind a copy it is looked for, too. Work across streams,
  graphs (same rules, less from kernel to kernel). From one device to another it takes ``stream.peer_hop`` more, and up
  to ``stream.peer_retry`` until somebody looks where it would be seen at once on one device. A copy that is asked for
  by the device that is written is made by the one that is read: it is asked for across, in the order of the stream,
  and its end is told across. A programmatic launch begins ``stream.programmatic_start`` after the blocks ahead have
  let it, and goes on ``stream.programmatic_wait`` after that kernel has ended.
Omits: why a second queue makes no difference; what queues of copies that wait do to each other (with three and four
  streams in and out of a kernel the device takes 3 % longer than is said here, without the kernel 3 to 6 % less).
  Beside streams that do nothing but wait, kernels lose a third of what they lose here (handover: waiting).
Source: realkernels.microbench.host (device: kernels of 10 us with copies between them start at multiples of 8.192 us
  from each other; between kernels, also across streams, nothing of that kind; handover: late, and the periods of 1 to
  8 streams, 52 within 3.7 % on average; ``copy.turn`` comes from eight more; peers: chains; programmatic).
"""

from __future__ import annotations

from itertools import pairwise

from gpusim.hardware.profile import DeviceProfile
from gpusim.host.device.work import COPY_ENGINES, DEVICE_ENGINES, Item

__all__ = ["HandOver"]

_ROUNDING = 1e-9
GOLDEN_RATIO = (5**0.5 - 1) / 2


class HandOver:
    """Earliest starts of work whose dependencies have ended."""

    def __init__(self, profile: DeviceProfile) -> None:
        value = profile.value
        self._retry_s, self._retry_more_s = value("stream.retry"), value("stream.retry_more")
        self._waits = 0
        self._peer_hop_s, self._peer_retry_s = value("stream.peer_hop"), value("stream.peer_retry")
        self._event_s = value("stream.event")
        self._start = {
            "compute": value("stream.start"), "func": value("stream.start"),
            **dict.fromkeys(COPY_ENGINES, value("stream.copy_start")),
        }  # fmt: skip
        self._graph_start_s = value("graph.start")
        self._kernel_s, self._hop_s = value("stream.kernel_kernel"), value("stream.event_hop")
        self._device_copy_s = value("stream.device_copy")
        self._to_copy_s, self._from_copy_s = value("stream.kernel_copy"), value("stream.copy_kernel")
        self._copy_copy_s, self._from_func_s = value("stream.copy_copy"), value("stream.func_kernel")
        self._early_start_s = value("stream.programmatic_start"), value("graph.programmatic_start")
        self._early_wait_s = value("stream.programmatic_wait"), value("graph.programmatic_wait")
        self._node_s, self._fork_s, self._launch_gap_s = (
            value("graph.node"),
            value("graph.fork"),
            value("graph.launch_gap"),
        )

    def ready(self, item: Item, others: int) -> float:
        """The time at which ``item`` may start as far as calls and dependencies are concerned.

        ``others``: how many other queues of its engine hold work that waits.
        """
        if item.kind == "marker":
            return self._pass_marker(item)
        enqueued = item.enqueued_s + (self._graph_start_s if item.in_graph else self._start[item.engine])
        waiting = max(enqueued, item.before.start_s) if item.before is not None else enqueued
        ready = enqueued + item.pulled * self._peer_hop_s
        if item.behind is not None:
            return max(ready, item.behind.triggered_s + self._early_start_s[item.in_graph > 0])
        for dep, why in item.deps:
            end = dep.end_s
            across_s = self._across_s(dep, item)
            if self._crosses(dep, item) and not item.pulled and end > waiting + _ROUNDING and self._retry_s > 0.0:
                retry = self._retry_s
                if item.engine in ("compute", "func"):
                    retry += self._retry_more_s * max(others - 1, 0)
                end += self._chance() * retry
                item.polled = True
            elif across_s and self._peer_retry_s > 0.0:
                end += self._chance() * self._peer_retry_s
            ready = max(ready, end + self._takes(dep, item, why) + across_s)
        return ready

    def waits_on_s(self, item: Item) -> float:
        """From the end of the kernel ahead until a kernel that began during it, and waits for it, goes on."""
        return self._early_wait_s[item.in_graph > 0]

    def _across_s(self, dep: Item, item: Item) -> float:
        """From the device of ``dep`` to that of its stream, to that of the stream of ``item``, to that of ``item``."""
        way = (dep.device, dep.stream.spec.device, item.stream.spec.device, item.device)
        return self._peer_hop_s * sum(here != there for here, there in pairwise(way))

    def _chance(self) -> float:
        """Numbers that fill (0, 1) evenly: where between two looks something comes depends on what nobody models."""
        self._waits += 1
        return self._waits * GOLDEN_RATIO % 1.0

    def _crosses(self, dep: Item, item: Item) -> bool:
        # A host function stands in the queue of the kernels.
        mine = "compute" if item.engine == "func" else item.engine
        return mine in DEVICE_ENGINES and dep.after in DEVICE_ENGINES and dep.after != mine

    def _takes(self, dep: Item, item: Item, why: str) -> float:
        before, after = dep.after, item.engine
        if after == "func" or before not in DEVICE_ENGINES:
            return self._from_func_s if before == "func" and after != "func" else 0.0
        if before != after:
            to_copy = self._to_copy_s if before == "compute" else self._copy_copy_s
            return self._from_copy_s if after == "compute" else to_copy
        return self._between_kernels(dep, item, why) if after == "compute" else 0.0

    def _between_kernels(self, dep: Item, item: Item, why: str) -> float:
        if item.in_graph:
            within = self._node_s if dep.lane == item.lane else self._fork_s
            return within if dep.in_graph == item.in_graph else self._launch_gap_s
        if "copy" in (dep.kind, item.kind):
            return self._device_copy_s
        return self._hop_s if why == "event" else self._kernel_s

    def _pass_marker(self, item: Item) -> float:
        """A record or a wait takes the front end a moment, and hands on what came before it."""
        last = max(item.deps, key=lambda entry: entry[0].end_s, default=None)
        if last is None:
            return item.enqueued_s
        dep, _ = last
        item.after = dep.after
        passing = 0.0 if item.in_graph else self._event_s
        return max(item.enqueued_s, dep.end_s + passing + self._across_s(dep, item))
