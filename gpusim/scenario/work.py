"""How much a program does, whatever the way it does it: what makes two variants comparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain

from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import KernelProgram
from gpusim.program.host import (
    FixedCost,
    GraphLaunch,
    HostProgram,
    HostWork,
    Launch,
    Memcpy,
    MemcpyAsync,
    MemsetAsync,
    Work,
)

__all__ = ["ROUNDING", "same_work", "work_of"]

ROUNDING = 0.001
"""Relative difference up to which two amounts are the same: results of a few bytes per warp, divisions."""


def work_of(program: KernelProgram | HostProgram) -> dict[str, float]:
    """Amounts by name: bytes read and moved by kernels, their FLOPs, bytes by direction (of memsets too), seconds.

    FLOPs are those of the tiles: what a warp does once, such as adding up its sums at the end, depends on
    how many warps there are and is not the work that was asked for.
    """
    return _of_kernel(program) if isinstance(program, KernelProgram) else _of_host(program)


def same_work(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether all amounts agree but for `ROUNDING`."""
    pairs = ((one.get(name, 0.0), other.get(name, 0.0)) for name in {**one, **other})
    return all(abs(a - b) <= ROUNDING * max(a, b) for a, b in pairs)


def _of_kernel(program: KernelProgram) -> dict[str, float]:
    whole = Traffic.of(program)
    # Twice the tiles less once the tiles leaves what is done per tile.
    twice = Traffic.of(program.repeated(2))
    return {
        "bytes read": whole.read_bytes,
        "bytes moved": whole.read_bytes + whole.written_bytes,
        "flop": twice.flop - whole.flop,
        "flop of tensor cores": twice.tensor_flop - whole.tensor_flop,
    }


def _of_host(program: HostProgram) -> dict[str, float]:
    amounts: Counter[str] = Counter()
    kernels: dict[int, dict[str, float]] = {}
    graphs = {graph.name: graph.ops for graph in program.graphs}
    for op in chain.from_iterable(thread.ops for thread in program.threads):
        for one in graphs[op.graph] if isinstance(op, GraphLaunch) else (op,):
            if isinstance(one, MemcpyAsync | MemsetAsync | Memcpy):
                amounts[one.direction] += one.bytes
            elif isinstance(one, HostWork):
                amounts["seconds of the host"] += one.seconds
            elif isinstance(one, Launch):
                known = kernels.get(id(one.kernel))
                if known is None:  # one program is launched many times
                    known = kernels[id(one.kernel)] = _of_launch(one.kernel)
                amounts.update(known)
    return dict(amounts)


def _of_launch(kernel: Work | KernelProgram) -> dict[str, float]:
    if isinstance(kernel, KernelProgram):
        return _of_kernel(kernel)
    if isinstance(kernel.cost, FixedCost):
        return {"seconds of blocks": kernel.cost.seconds * kernel.grid}
    return {"flop": kernel.cost.flop, "bytes moved": kernel.cost.bytes, "bytes written": kernel.cost.writes}
