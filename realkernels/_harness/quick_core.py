"""A core on which calls of the runtime are quick.

What a call costs depends on the core that makes it: on two machines with two and four H200 the same program of one
thread took between 30 and 56 us a turn (timed once, not recorded), by core alone, and whole processes were at one end
or the other. Which core a process gets is chance; so programs of one thread are timed on the quickest of several.

Threads that a bound one starts are bound to the same core. The driver starts one when the first host function is asked
for, and a thread that waits in a loop for the device would leave it only every other time slice: programs with host
functions took whole multiples of 4 ms. None other was seen to start behind the context (pinned and ordinary copies,
allocation, pools, graphs), and the context's own are there before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

import numpy as np

from gpusim.program import host as ops
from realkernels._harness.work_kernel import work_kernel

__all__ = ["one_thread_only", "stay_on_a_quick_core"]

MOST_CORES = 16
CALLS, ROWS = 200, 5


def one_thread_only(programs: Iterable[ops.HostProgram]) -> bool:
    """Whether all that these programs do on the host is done by the thread that calls: only then may it be bound."""
    return all(
        len(program.threads) == 1
        and not any(isinstance(op, ops.HostFunc) for part in (*program.threads, *program.graphs) for op in part.ops)
        for program in programs
    )


def stay_on_a_quick_core() -> dict[str, float]:
    """Bind this thread to the quickest core of up to `MOST_CORES`, evenly spread over those it may use.

    Returns what a launch takes on it and on the one in the middle, in seconds; nothing where cores cannot be chosen.
    """
    if not hasattr(os, "sched_setaffinity"):
        return {}
    allowed = sorted(os.sched_getaffinity(0))
    chosen = allowed[:: -(-len(allowed) // MOST_CORES)]
    seconds = {}
    for core in chosen:
        os.sched_setaffinity(0, {core})
        seconds[core] = _launch_s()
    ranked = sorted(chosen, key=seconds.__getitem__)
    os.sched_setaffinity(0, {ranked[0]})
    return {"quickest_s": seconds[ranked[0]], "middle_s": seconds[ranked[len(ranked) // 2]]}


def _launch_s() -> float:
    """Seconds of one launch of many; the middle of several rows, since a core needs a moment to get going."""
    import cupy

    kernel, args = work_kernel(ops.Work(ops.FixedCost(0.0))), (np.uint64(0), np.uint64(0), np.uint64(0))
    rows = []
    for _ in range(ROWS):
        cupy.cuda.runtime.deviceSynchronize()
        begin = time.perf_counter()
        for _ in range(CALLS):
            kernel((1,), (32,), args)
        rows.append((time.perf_counter() - begin) / CALLS)
    cupy.cuda.runtime.deviceSynchronize()
    return float(np.median(rows))
