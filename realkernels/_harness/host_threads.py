"""What threads of a host program do besides calls: work of their own, and slots that they take and give back."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping

from gpusim.program import host as ops

__all__ = ["let_go", "put_back", "semaphores", "work_for"]


def work_for(seconds: float) -> None:
    """Keep this thread busy; the interpreter lock is let go, as real work in NumPy or C would."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        let_go()


def _let_go() -> Callable[[], None]:
    """Lets other Python threads in without going to sleep: a sleep of no time takes 50 us on Linux."""
    return getattr(os, "sched_yield", None) or (lambda: time.sleep(0))


let_go = _let_go()


def semaphores(program: ops.HostProgram) -> dict[str, threading.Semaphore]:
    """The slots of a program, by name."""
    return {slots.name: threading.Semaphore(slots.count) for slots in program.slots}


def put_back(program: ops.HostProgram, slots: Mapping[str, threading.Semaphore]) -> None:
    """Give each of ``slots`` the count with which ``program`` begins, while nobody uses them.

    The semaphores themselves stay, because calls hold them.
    """
    for spec in program.slots:
        while slots[spec.name].acquire(blocking=False):
            pass
        if spec.count:
            slots[spec.name].release(spec.count)
