"""Copies within the device beside kernels: who waits for room on the SMs, and who takes whose bandwidth.

A row is a piece of work, or two on two streams, the second right behind the first: ``first_s`` and ``second_s`` are
from a common start to the end of each. Everything is queued before any of it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from realkernels._harness.compile import compile_kernel
from realkernels.microbench.bench import HERE, KIB, MIB
from realkernels.microbench.host_lab import D2D, Lab

__all__ = ["SECTIONS"]

LARGE = 256 * MIB
SIZES = (256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 128 * MIB, LARGE)
LONG_S = 400e-6
"""Of a kernel beside which a large copy would be over by far, if it had room."""
OPERAND = 256 * MIB
REPEATS = 5

Work = tuple[str, Callable[[Any], None]]
"""Its name, and what enqueues it in a stream."""


def _copy(lab: Lab, size: int) -> Work:
    return "copy", lambda stream: lab.copy(stream, D2D, size)


def _spin(lab: Lab, seconds: float, grid: int, block: int) -> Work:
    """Holds threads and does nothing."""
    return "spin", lambda stream: lab.kernel(stream, 0, seconds, grid, block)


def _row(lab: Lab, *works: Work, **about: Any) -> dict:
    """Medians of the ends of one or two ``works``; one run warms up."""
    event, elapsed = lab.cupy.cuda.Event, lab.cupy.cuda.get_elapsed_time
    streams = lab.streams(len(works))
    samples, late = [], False
    for _ in range(1 + REPEATS):
        begin, ends = event(), [event() for _ in works]
        with lab.released(streams[:1], 2e-3):
            begin.record(streams[0])
            for stream, (_, enqueue), end in zip(streams, works, ends, strict=True):
                if stream is not streams[0]:
                    stream.wait_event(begin)
                enqueue(stream)
                end.record(stream)
        late |= lab.late
        samples.append([elapsed(begin, end) * 1e-3 for end in ends])
    row = {"kind": "copy_beside", **about, "late": late}
    for place, (name, _), seconds in zip(("first", "second"), works, np.median(samples[1:], axis=0), strict=False):
        row |= {place: name, f"{place}_s": float(seconds)}
    return row


def _alone(lab: Lab) -> Iterator[dict]:
    for size in SIZES:
        yield _row(lab, _copy(lab, size), bytes=size)


def _behind_copies(lab: Lab) -> Iterator[dict]:
    """What comes behind a copy: kernels of one warp and of as many threads as there are, and another copy."""
    for size in SIZES:
        seconds = 50e-6 if size > 32 * MIB else 10e-6
        for grid, block in ((1, 32), (lab.sms, 1024), (2 * lab.sms, 1024)):
            spin = _spin(lab, seconds, grid, block)
            yield _row(lab, _copy(lab, size), spin, bytes=size, grid=grid, block=block, kernel_s=seconds)
        yield _row(lab, _copy(lab, size), _copy(lab, size), bytes=size)


def _behind_kernels(lab: Lab) -> Iterator[dict]:
    """A large copy behind a kernel that leaves it some of the threads of each SM (``free_threads``)."""
    most = int(lab.cupy.cuda.Device().attributes["MaxThreadsPerMultiProcessor"])
    shapes = [(1, block) for block in (32, 256, 512, 768, 1024)]
    shapes += [(2, block) for block in (512, 640, 704, 768, 800, 832, 896, 960, 992, 1024)]
    for per_sm, block in shapes:
        grid, free = per_sm * lab.sms, most - per_sm * block
        about = {"bytes": LARGE, "kernel_s": LONG_S, "free_threads": free, "sm_threads": most}
        yield _row(lab, _spin(lab, LONG_S, grid, block), _copy(lab, LARGE), grid=grid, block=block, **about)
    # Every second SM is free.
    spin = _spin(lab, LONG_S, lab.sms // 2, 1024)
    yield _row(lab, spin, _copy(lab, LARGE), bytes=LARGE, grid=lab.sms // 2, block=1024, kernel_s=LONG_S)


def _beside_memory(lab: Lab) -> Iterator[dict]:
    """A copy and a kernel that is bound by memory, of each shape alone and in both orders."""
    code = compile_kernel(HERE / "host_beside.cu", "saxpy").prepared()
    x, y = (lab.cupy.zeros(OPERAND // 4, dtype=np.float32) for _ in range(2))
    for per_sm, block in ((8, 256), (4, 256), (1, 1024), (1, 256)):
        grid = per_sm * lab.sms

        def saxpy(stream: Any, grid: int = grid, block: int = block) -> None:
            with stream:
                code((grid,), (block,), (x, y, np.uint64(OPERAND // 16)))

        about = {"grid": grid, "block": block, "kernel_bytes": 3 * OPERAND}
        copy, kernel = _copy(lab, 128 * MIB), ("saxpy", saxpy)
        yield _row(lab, kernel, **about)
        yield _row(lab, kernel, copy, bytes=128 * MIB, **about)
        yield _row(lab, copy, kernel, bytes=128 * MIB, **about)


SECTIONS = (_alone, _behind_copies, _behind_kernels, _beside_memory)
