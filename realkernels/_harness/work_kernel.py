"""The real kernel behind a kernel that a host program states by its cost alone (`gpusim.program.host.Work`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from gpusim.program import host as ops
from realkernels._harness.compile import CompileError, compile_kernel

__all__ = ["work_kernel"]

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
    # Up to 32 registers a thread, all 2048 threads of an SM find room: nothing needs holding.
    return (0,) if registers <= 32 else range(max(registers - 8, 1), max(registers - 40, 0), -2)
