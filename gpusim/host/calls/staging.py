"""Copies of ordinary memory: the host moves bytes between it and buffers that the device can reach.

Models: in: up to ``pageable.inline`` bytes go into the command stream and the call returns; beyond, the host fills
  staging buffers of ``pageable.piece`` in turn, waits while all are taken, and returns when the last one is filled.
  Out: the device fills buffers in the order of the stream, ahead of the host, which empties them and returns at the
  end. Rates of the host by direction: a single buffer, many in a row. What the host's cache does not hold of all that
  the program copies pageably is read from memory, at a rate of its own; writing takes no longer.
Omits: what else is in the host's caches, and in which order it leaves them; page faults.
Source: realkernels.microbench.host (calls; copies: pageable, pageable_chunks, pageable_behind_kernel; latency:
  pageable_records).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator

from gpusim.host.calls.caller import Caller
from gpusim.host.device.machine import Machine
from gpusim.host.device.work import Item, Staged, StagedCopy, StreamState
from gpusim.program.host import TO_OR_FROM_HOST, HostProgram, Memcpy, MemcpyAsync

__all__ = ["Staging"]

Copy = MemcpyAsync | Memcpy


class Staging:
    """The staging buffers of one device."""

    def __init__(self, machine: Machine, program: HostProgram) -> None:
        value = machine.profile.value
        self._streams = machine.streams
        self._inline, self._piece = int(value("pageable.inline")), int(value("pageable.piece"))
        self._count = int(value("pageable.buffers"))
        self._inline_rate, self._small_rate = value("pageable.inline_rate"), value("pageable.small_rate")
        self._in_rate, self._out_rate = value("pageable.h2d_rate"), value("pageable.d2h_rate")
        self._small_out_rate, self._out_overhead_s = value("pageable.d2h_small_rate"), value("pageable.d2h_overhead")
        self._overhead_s = value("pageable.h2d_overhead")
        cold = max(1.0 - value("pageable.cache") / max(_touched(program), 1), 0.0)
        self._cold_s = cold * max(1.0 / value("pageable.h2d_cold_rate") - 1.0 / self._in_rate, 0.0)
        self._in_flight: deque[Item] = deque()

    def copy_in(self, caller: Caller, stream: StreamState, op: Copy) -> Generator:
        """The host's part of a copy to the device; the device's goes on behind the call."""
        if op.bytes <= self._inline:
            yield from caller.busy("host", op.bytes / self._inline_rate, op.chunk, op.bytes)
            part = Staged("h2d", op.bytes, StagedCopy(), last=True)
            self._streams.enqueue(stream, "copy", "h2d", op.chunk, part)
            return
        yield from caller.busy("issue", self._overhead_s, op.chunk)
        rate = self._small_rate if op.bytes <= self._piece else self._in_rate
        each_s = 1.0 / rate + self._cold_s
        for part in self._parts(op):
            while len(self._in_flight) >= self._count:
                yield from caller.until(self._in_flight.popleft(), "copy_in_flight", op.chunk)
            yield from caller.busy("host", part.bytes * each_s, op.chunk, part.bytes)
            self._in_flight.append(self._streams.enqueue(stream, "copy", "h2d", op.chunk, part))

    def copy_out(self, caller: Caller, stream: StreamState, op: Copy, wake_s: float) -> Generator:
        """The whole of a copy from the device; its first parts are in the order of the stream."""
        waiting = deque(self._parts(op))
        under_way: deque[tuple[Item, Staged]] = deque()
        reason, wake = "host_sync", wake_s + self._out_overhead_s
        rate = self._small_out_rate if op.bytes <= self._piece else self._out_rate
        while waiting or under_way:
            while waiting and len(under_way) < self._count:
                part = waiting.popleft()
                under_way.append((self._streams.enqueue(stream, "copy", "d2h", op.chunk, part), part))
            item, part = under_way.popleft()
            yield from caller.until(item, reason, op.chunk)
            yield from caller.busy("issue", wake, op.chunk)
            reason, wake = "copy_in_flight", 0.0
            yield from caller.busy("host", part.bytes / rate, op.chunk, part.bytes)

    def _parts(self, op: Copy) -> list[Staged]:
        sizes = [self._piece] * (op.bytes // self._piece) + ([op.bytes % self._piece] if op.bytes % self._piece else [])
        whole = StagedCopy()
        return [Staged(op.direction, size, whole, last=i == len(sizes) - 1) for i, size in enumerate(sizes or [0])]


def _touched(program: HostProgram) -> int:
    """Bytes of ordinary memory that a program copies from and to."""
    sizes = {buffer.name: buffer.bytes for buffer in program.buffers}
    named: dict[str, int] = {}
    again: set[tuple[str, int]] = set()
    own = 0
    for thread in program.threads:
        for op in thread.ops:
            if not isinstance(op, Copy) or op.pinned or op.direction not in TO_OR_FROM_HOST:
                continue
            if op.host:
                named[op.host] = max(named.get(op.host, 0), sizes.get(op.host, 0), op.bytes)
            elif op.over:
                again.add((op.direction, op.over))
            else:
                own += op.bytes
    return sum(named.values()) + sum(size for _, size in again) + own
