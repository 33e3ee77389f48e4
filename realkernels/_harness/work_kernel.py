"""The real kernel behind a kernel that a host program states by its cost alone (`gpusim.program.host.Work`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gpusim.program import host as ops
from realkernels._harness.compile import CompileError, compile_kernel

__all__ = ["early_kernel", "early_times", "work_kernel"]

FEW_REGISTERS = 32
"""Registers a thread with which all 2048 threads of an SM find room: nothing needs holding."""
WORK_SOURCE = Path(__file__).resolve().parent / "work.cu"


def work_kernel(work: ops.Work, device: int = 0) -> Any:
    """The real kernel with the footprint of ``work``, loaded to ``device``.

    Raises ValueError if no variant has its registers, which are allocated in steps of 8 per thread.
    """
    name = "work_fixed" if isinstance(work.cost, ops.FixedCost) else "work_roofline"
    # The limit belongs to the function in its module, whoever holds it here: it may only ever be raised.
    import cupy

    with cupy.cuda.Device(device):
        return _variant(name, work.registers, device).prepared(work.shared_bytes)


def early_kernel(work: ops.Work, device: int = 0) -> Any:
    """The real kernel of a ``work`` that waits for the kernel ahead, or lets the next one begin, as `work_kernel`.

    Raises ValueError for what there is no such kernel of: other costs than a duration, and many registers.
    """
    if not isinstance(work.cost, ops.FixedCost) or work.registers > FEW_REGISTERS:
        raise ValueError(
            f"a real kernel of a programmatic launch has a duration and at most {FEW_REGISTERS} registers a thread; "
            "this program is for the model only"
        )
    import cupy

    with cupy.cuda.Device(device):
        return _variant("work_early", work.registers, device).prepared(work.shared_bytes)


def early_times(work: ops.Work) -> tuple[np.generic, ...]:
    """What `early_kernel` is told of its times: before the wait, and before and behind the trigger."""
    seconds = work.cost.seconds
    before_s = seconds * min(max(work.trigger, 0.0), 1.0)
    who = 1 if work.trigger < 0.0 else 2 if work.trigger < 1.0 else 0
    times = (np.uint64(round(each * 1e9)) for each in (work.prologue_s, before_s, seconds - before_s))
    return (*times, np.uint32(who))


@cache
def _variant(name: str, registers: int, _device: int) -> Any:
    for hold in _hold_choices(registers):
        try:
            compiled = compile_kernel(WORK_SOURCE, name, {"HOLD": hold})
        except CompileError:
            continue
        if hold == 0 or -(-compiled.registers // 8) == -(-registers // 8):
            return compiled
    raise ValueError(f"no kernel variant with {registers} registers per thread")


def _hold_choices(registers: int) -> range | tuple[int, ...]:
    return (0,) if registers <= FEW_REGISTERS else range(max(registers - 8, 1), max(registers - 40, 0), -2)
