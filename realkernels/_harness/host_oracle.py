"""What a host program must leave in host memory, worked out with NumPy.

A correct program gives the same result as its ops carried out one after another in the order of
issue, because everything that orders them on the device was issued in that order too. Kernels
add 1 to each word, so every range of the result is some input range plus a count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd

import numpy as np

from gpusim.program import KernelProgram
from gpusim.program import host as ops

__all__ = ["expected", "mismatches"]

_NOTHING = ("", 0, 0)
_ZERO = ("\0", 0, 0)
"""What a memset leaves, as if copied from a buffer of zeros; no buffer has that name."""
MOST_CHECKED = 4096
"""Grains of a buffer that are looked at, evenly spread."""


@dataclass
class Plan:
    """Per host buffer and grain: which input grain (buffer, index) and how many increments."""

    grain: int
    content: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    checkable: bool = True


def expected(program: ops.HostProgram) -> Plan:
    """Carry the ops out on grains: the greatest common divisor of all sizes and offsets."""
    sequence = [op for thread in program.threads for op in _flat(program, thread.ops)]
    plan = Plan(_grain(program, sequence))
    for buffer in program.buffers:
        count = -(-buffer.bytes // plan.grain)
        start = (buffer.name,) if buffer.place != "device" else None
        plan.content[buffer.name] = [(*start, i, 0) if start else _NOTHING for i in range(count)]
    for op in sequence:
        _apply(plan, op)
    return plan


def _flat(program: ops.HostProgram, sequence: tuple) -> list:
    flat: list = []
    for op in sequence:
        flat.extend(program.graph(op.graph).ops if isinstance(op, ops.GraphLaunch) else (op,))
    return flat


def _grain(program: ops.HostProgram, sequence: list) -> int:
    grain = 0
    for op in sequence:
        for attribute in ("bytes", "offset", "host_offset", "device_offset"):
            grain = gcd(grain, getattr(op, attribute, 0))
    for buffer in program.buffers:
        grain = gcd(grain, buffer.bytes)
    return max(grain, 4)


def _apply(plan: Plan, op: object) -> None:
    grain, content = plan.grain, plan.content
    if isinstance(op, ops.Malloc | ops.MallocAsync | ops.MallocHost):
        content[op.buffer] = [_NOTHING] * -(-op.bytes // grain)
    elif isinstance(op, ops.MemcpyAsync | ops.Memcpy):
        if not op.host or not op.device:
            plan.checkable = False
            return
        host = slice(op.host_offset // grain, (op.host_offset + op.bytes) // grain)
        device = slice(op.device_offset // grain, (op.device_offset + op.bytes) // grain)
        if op.direction == "d2h":
            content[op.host][host] = content[op.device][device]
            plan.written.add(op.host)
        else:
            content[op.device][device] = content[op.host][host]
    elif isinstance(op, ops.MemsetAsync):
        if not op.device:
            plan.checkable = False
            return
        first, last = op.device_offset // grain, (op.device_offset + op.bytes) // grain
        content[op.device][first:last] = [_ZERO] * (last - first)
    elif isinstance(op, ops.Launch) and op.buffer and op.bytes:
        if isinstance(op.kernel, KernelProgram):
            return  # its result has an oracle of its own; it leaves its input alone
        part = slice(op.offset // grain, (op.offset + op.bytes) // grain)
        content[op.buffer][part] = [(name, i, n + 1) for name, i, n in content[op.buffer][part]]


def mismatches(plan: Plan, views: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray]) -> str:
    """The first difference in words, or "" when first and last word of the grains agree."""
    if not plan.checkable:
        return "" if not plan.written else "not checkable: a copy or a memset names no buffer"
    words = plan.grain // 4
    zeros = np.zeros(words, dtype=np.uint32)
    for name in sorted(plan.written):
        actual = views.get(name)
        if actual is None:
            continue
        content = plan.content[name]
        for index in range(0, len(content), max(1, len(content) // MOST_CHECKED)):
            source, grain, count = content[index]
            before = zeros if source == _ZERO[0] else inputs.get(source, views.get(source))
            if before is None or (grain + 1) * words > len(before):
                continue
            for word in (0, words - 1):
                want = (int(before[grain * words + word]) + count) & 0xFFFFFFFF
                got = int(actual[index * words + word])
                if got != want:
                    return f"{name}[{index * words + word}] is {got}, expected {want}"
    return ""
