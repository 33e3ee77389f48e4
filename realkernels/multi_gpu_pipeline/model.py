"""The runtime calls of one configuration.

Every GPU has a ring of ``slots`` tensors. Micro-batch i is in slot i modulo ``slots`` of each of them: in it the kernel
works in place, and it is free again when the next GPU has its copy.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.program.host import (
    Buffer,
    EventRecord,
    HostOp,
    HostProgram,
    Launch,
    MemcpyAsync,
    SetDevice,
    Stream,
    StreamSync,
    StreamWaitEvent,
    Work,
)
from realkernels._parts.host_programs import full_work, one_thread
from realkernels.multi_gpu_pipeline import Params

IN_AND_OUT = 64 << 10
"""Bytes of a micro-batch that the host gives to the first GPU and gets from the last, at most."""


def build(params: Params) -> HostProgram:
    """The program of one configuration."""
    ops = [op for batch in range(params.microbatches) for op in _batch(params, batch)]
    shared = min(params.bytes, IN_AND_OUT) * params.microbatches
    last = params.gpus - 1
    return one_thread(
        "multi_gpu_pipeline",
        ops,
        streams=tuple(_streams(params)),
        buffers=(
            Buffer("input", shared, "pinned"),
            Buffer("output", shared, "pinned", last),
            *(Buffer(f"tensors{gpu}", params.bytes * params.slots, "device", gpu) for gpu in range(params.gpus)),
        ),
    )


def part_work(params: Params, gpu: int) -> Work:
    """The kernel of one part."""
    last = gpu == params.gpus - 1
    return full_work(params.kernel_s * (1.0 + params.imbalance * last), f"part{gpu}")


def _streams(params: Params) -> Iterator[Stream]:
    yield Stream("load", "non_blocking")
    for gpu in range(params.gpus):
        yield Stream(f"compute{gpu}", "non_blocking", device=gpu)
        if gpu and params.copy_stream == "own":
            yield Stream(f"copy{gpu}", "non_blocking", device=_asked(params, gpu))
    yield Stream("store", "non_blocking", device=params.gpus - 1)


def _asked(params: Params, gpu: int) -> int:
    """The GPU in one of whose streams the copy to ``gpu`` is."""
    return gpu if params.way == "pull" else gpu - 1


def _batch(params: Params, batch: int) -> Iterator[HostOp]:
    """One micro-batch, from the host through all parts and back."""
    shared, offset = min(params.bytes, IN_AND_OUT), batch % params.slots * params.bytes
    slot = batch % params.slots
    step = _Steps(params, batch)
    last = params.gpus - 1
    load = MemcpyAsync("h2d", shared, "load", True, "input", "tensors0", batch * shared, offset, batch)
    yield from step.move("load", load, gpu=0)
    for gpu in range(params.gpus):
        if gpu:
            stream = f"copy{gpu}" if params.copy_stream == "own" else f"compute{_asked(params, gpu)}"
            pull = params.way == "pull"
            copy = MemcpyAsync(
                "p2p", params.bytes, stream, True, f"tensors{gpu - 1}", f"tensors{gpu}", offset, offset, batch,
                peer=gpu - 1 if pull else gpu, pull=pull,
            )  # fmt: skip
            yield from step.move(stream, copy, gpu)
        compute = f"compute{gpu}"
        yield SetDevice(gpu, batch)
        yield from step.wait(f"arrived{gpu}_{slot}", compute)
        yield Launch(part_work(params, gpu), compute, f"tensors{gpu}", offset, shared, batch)
        yield from step.done(f"computed{gpu}_{slot}", compute)
    store = MemcpyAsync("d2h", shared, "store", True, "output", f"tensors{last}", batch * shared, offset, batch)
    yield from step.move("store", store, gpu=params.gpus)


class _Steps:
    """What stands around the work of one micro-batch: events, or waits of the host."""

    def __init__(self, params: Params, batch: int) -> None:
        self._params, self._batch = params, batch

    def move(self, stream: str, copy: MemcpyAsync, gpu: int) -> Iterator[HostOp]:
        """A copy from a slot that is computed into a free one of ``gpu`` (one more than there are: to the host)."""
        slot = self._batch % self._params.slots
        if gpu > 0:
            yield from self.wait(f"computed{gpu - 1}_{slot}", stream)
        if self._batch >= self._params.slots and gpu < self._params.gpus:
            # What left the slot has arrived at the next GPU, or at the host.
            yield from self.wait(f"arrived{gpu + 1}_{slot}", stream)
        yield copy
        yield from self.done(f"arrived{gpu}_{slot}", stream)

    def wait(self, event: str, stream: str) -> Iterator[HostOp]:
        if self._params.hand_over == "events":
            yield StreamWaitEvent(event, stream, self._batch)

    def done(self, event: str, stream: str) -> Iterator[HostOp]:
        if self._params.hand_over == "events":
            yield EventRecord(event, stream, self._batch)
        else:
            yield StreamSync(stream, self._batch)
