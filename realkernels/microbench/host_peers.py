"""Two devices: copies between them by size and by whose stream asks, beside other copies, events across, calls."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from realkernels._harness.compile import compile_kernel
from realkernels._harness.device import let_see_each_other
from realkernels.microbench.bench import HERE, KIB, MIB
from realkernels.microbench.host_cpp import run_program
from realkernels.microbench.host_lab import D2H, H2D, Lab, time_row

NOTES = {
    "way": "push: in a stream of the device that is read; pull: in a stream of the one that is written; "
    "pull_uva: the same by cudaMemcpyAsync, which is not told the devices",
    "seconds": "one copy of a row in one stream, from the slope between a short and a long row (device time only)",
    "together_s": "a turn of one copy each, of eight turns; h2d and d2h are of a quarter of the bytes",
    "way of a fan": "out: of device 0 to others, in: of others to device 0; together_s: a turn of one copy each",
    "chain": "what follows what, to the other device and back; period_s: half a turn, from the slope of many turns",
    "kernel_s": "what each kernel of a chain stays; copies of a chain are of 64 KiB",
}
SIZES = (4, 4 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB)
CHAIN_BYTES = 64 * KIB
KERNEL_US = (5.0, 7.0, 9.5, 11.0, 12.5, 14.0, 15.5, 17.0, 18.5, 20.0, 23.0, 27.0, 31.0, 40.0)
SHORT, LONG = 8, 40
REPEATS = 5


class Pair:
    """Two devices, or more, with access to each other, a few streams and scratch memory on each."""

    def __init__(self, lab: Lab, devices: int = 2) -> None:
        self.cupy, self.runtime = lab.cupy, lab.runtime
        self.streams, self.memory, self._kernels, self._stamps = [], [], [], []
        self._events: dict[int, Any] = {}
        self._devices = range(devices)
        let_see_each_other(devices)
        for device in self._devices:
            self.use(device)
            self.streams.append([self.cupy.cuda.Stream(non_blocking=True) for _ in range(3)])
            self.memory.append(self.runtime.malloc(4 * SIZES[-1]))
            self._kernels.append(compile_kernel(HERE / "host_stamps.cu", "stamp").prepared())
            self._stamps.append(self.cupy.zeros(2, dtype=self.cupy.uint64))
        self.host = self.runtime.hostAlloc(2 * SIZES[-2], 0)
        self.use(0)

    def use(self, device: int) -> None:
        self.runtime.setDevice(device)

    def wait(self) -> None:
        for device in reversed(self._devices):
            self.use(device)
            self.runtime.deviceSynchronize()

    def kernel(self, device: int, seconds: float, stream: int = 0) -> None:
        self.use(device)
        with self.streams[device][stream]:
            self._kernels[device]((1,), (32,), (self._stamps[device], np.int32(0), np.uint64(round(seconds * 1e9))))

    def copy(self, source: int, size: int, way: str, stream: int = 0) -> None:
        """From device ``source`` to the other one; each way has memory of its own."""
        target, offset = 1 - source, 2 * SIZES[-1] * source
        read, written = self.memory[source] + offset, self.memory[target] + offset
        own = self.streams[source if way == "push" else target][stream].ptr
        if way == "pull_uva":
            self.runtime.memcpyAsync(written, read, size, 4, own)
        else:
            self.runtime.memcpyPeerAsync(written, target, read, source, size, own)

    def hand_over(self, source: int, stream: int, target: int, other: int) -> None:
        """What follows in the second stream waits for what has been put into the first."""
        if source not in self._events:
            self.use(source)
            self._events[source] = self.cupy.cuda.Event(disable_timing=True)
        self._events[source].record(self.streams[source][stream])
        self.streams[target][other].wait_event(self._events[source])


def _row(pair: Pair, device: int, call: Callable[[], None], count: int, hold_s: float) -> float:
    """Seconds between two events of a stream with ``count`` times ``call`` between them, all queued beforehand."""
    stream = pair.streams[device][0]
    pair.wait()
    pair.kernel(device, hold_s)
    first, last = pair.cupy.cuda.Event(), pair.cupy.cuda.Event()
    first.record(stream)
    for _ in range(count):
        call()
    last.record(stream)
    last.synchronize()
    return pair.cupy.cuda.get_elapsed_time(first, last) * 1e-3


def _sizes(lab: Lab) -> Iterator[dict]:
    pair = Pair(lab)
    for way in ("push", "pull", "pull_uva"):
        for size in SIZES:
            short, long = (2, 26) if size <= 16 * MIB else (1, 5)
            row = partial(_row, pair, way != "push", partial(pair.copy, 0, size, way), hold_s=2e-3)
            times = [(row(count=long) - row(count=short)) / (long - short) for _ in range(REPEATS)]
            yield {"kind": "size", "way": way, "bytes": size, "seconds": statistics.median(times)}


def _beside(lab: Lab) -> Iterator[dict]:
    pair, size = Pair(lab), SIZES[-2]
    part = size // 4

    def link(device: int, kind: int) -> None:
        ends = (pair.memory[device] + 3 * SIZES[-1], pair.host + (size if kind == D2H else 0))
        target, source = ends if kind == H2D else ends[::-1]
        pair.runtime.memcpyAsync(target, source, part, kind, pair.streams[device][2 if kind == D2H else 1].ptr)

    there, back = partial(pair.copy, 0, size, "push"), partial(pair.copy, 1, size, "push")
    calls = {
        "there": there, "back": back, "there again": partial(pair.copy, 0, size, "push", 1),
        "back by pull": partial(pair.copy, 1, size, "pull", 1), "there by pull": partial(pair.copy, 0, size, "pull", 1),
        "h2d 0": partial(link, 0, H2D), "d2h 0": partial(link, 0, D2H),
        "h2d 1": partial(link, 1, H2D), "d2h 1": partial(link, 1, D2H),
    }  # fmt: skip
    beside = ("there again", "back", "back by pull", "there by pull", "h2d 0", "d2h 0", "h2d 1", "d2h 1")
    sets = [(name,) for name in calls] + [("there", other) for other in beside] + [("h2d 0", "h2d 1")]
    for names in sets:
        times = []
        for _ in range(REPEATS):
            pair.wait()
            begin = time.perf_counter()
            for _ in range(8):
                for name in names:
                    calls[name]()
            pair.wait()
            times.append((time.perf_counter() - begin) / 8)
        yield {"kind": "beside", "copies": list(names), "bytes": size, "together_s": statistics.median(times)}


def _fans(lab: Lab) -> Iterator[dict]:
    """Copies of one device to several others, each in a stream of its own, and of several others to it."""
    count = lab.runtime.getDeviceCount()
    if count < 3:
        return
    pair, size = Pair(lab, count), SIZES[-2]
    ways = {
        "out": lambda other: (0, other, pair.streams[0][other - 1]),
        "in": lambda other: (other, 0, pair.streams[other][0]),
    }
    for way, ends in ways.items():
        for others in range(1, count):
            times = []
            for _ in range(REPEATS):
                pair.wait()
                begin = time.perf_counter()
                for _ in range(8):
                    for source, target, stream in map(ends, range(1, others + 1)):
                        offset = SIZES[-1] * (source - 1 if way == "in" else 3)
                        pair.runtime.memcpyPeerAsync(
                            pair.memory[target] + offset,
                            target,
                            pair.memory[source] + 3 * SIZES[-1],
                            source,
                            size,
                            stream.ptr,
                        )
                pair.wait()
                times.append((time.perf_counter() - begin) / 8)
            yield {"kind": "fan", "way": way, "others": others, "bytes": size, "together_s": statistics.median(times)}


def _chains(lab: Lab) -> Iterator[dict]:
    """Kernels of both devices by turns, with nothing, an event, or a copy between them."""
    pair = Pair(lab)

    def step(chain: str, device: int, kernel_s: float) -> None:
        other = 1 - device
        if chain == "same device":
            pair.kernel(0, kernel_s, stream=device)
            pair.hand_over(0, device, 0, other)
            return
        if chain != "copies":
            pair.kernel(device, kernel_s)
        if chain in ("push", "copies"):
            pair.copy(device, CHAIN_BYTES, "push")
        pair.hand_over(device, 0, other, 0)
        if chain == "pull":
            pair.copy(device, CHAIN_BYTES, "pull")

    def total(chain: str, turns: int, kernel_s: float) -> float:
        pair.wait()
        pair.kernel(0, 4e-3)
        begin = time.perf_counter()
        for _ in range(turns):
            for device in (0, 1):
                step(chain, device, kernel_s)
        pair.wait()
        return time.perf_counter() - begin

    for chain in ("same device", "kernels", "push", "pull", "copies"):
        for kernel_us in KERNEL_US if chain != "copies" else (0.0,):
            slopes = [
                total(chain, LONG, 1e-6 * kernel_us) - total(chain, SHORT, 1e-6 * kernel_us) for _ in range(REPEATS)
            ]
            period = statistics.median(slopes) / 2 / (LONG - SHORT)
            yield {"kind": "chain", "chain": chain, "kernel_s": 1e-6 * kernel_us, "period_s": period}


def _calls(lab: Lab) -> Iterator[dict]:
    """From Python through CuPy, in a row, behind kernels that hold both devices."""
    pair = Pair(lab)
    event = pair.cupy.cuda.Event(disable_timing=True)
    (own, *_), (other, *_) = pair.streams
    event.record(own)

    def both_set() -> None:
        pair.use(1)
        pair.use(0)

    def launches(devices: tuple[int, int]) -> None:
        for device in devices:
            pair.kernel(device, 1e-7)

    calls: dict[str, Any] = {
        "two set_device": both_set,
        "two launches": partial(launches, (0, 0)), "two launches on two devices": partial(launches, (1, 0)),
        "record": partial(event.record, own), "wait": partial(pair.streams[0][1].wait_event, event),
        "wait of the other device": partial(other.wait_event, event),
        "copy: push": partial(pair.copy, 0, 4 * KIB, "push"), "copy: pull": partial(pair.copy, 0, 4 * KIB, "pull"),
        "copy: pull_uva": partial(pair.copy, 0, 4 * KIB, "pull_uva"),
        "copy: h2d": lambda: pair.runtime.memcpyAsync(pair.memory[0], pair.host, 4 * KIB, H2D, own.ptr),
    }  # fmt: skip
    for name, call in calls.items():
        rows = []
        for _ in range(REPEATS):
            pair.wait()
            for device in (1, 0):
                pair.kernel(device, 10e-3)
            rows.append(time_row(call, 300))
        yield {"kind": "call", "api": "cupy", "call": name, "row_s": statistics.median(rows)}
    pair.wait()


def _cpp_calls(_lab: Lab) -> Iterator[dict]:
    yield from run_program("host_peers.cu")


SECTIONS = (_sizes, _beside, _fans, _chains, _calls, _cpp_calls)
