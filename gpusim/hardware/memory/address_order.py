"""How far a kernel touches memory in order of address, which DRAM serves better.

CTAs that come one after another read and write piece after piece; those that are all there from the beginning drift
apart, and so do those that stay for long.
Omits: which piece a CTA takes (the next one, unless its loads are strided or scattered); that turns of a tile may ask
  for more or less than others.
Source: realkernels.microbench in_order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from gpusim.hardware.memory.l2_and_hbm import FEW_WRITES
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import KernelProgram, Load, Op, WaitLoads

__all__ = ["IN_ORDER_BYTES", "reads_in_order", "writes_in_order"]

IN_ORDER_BYTES, OUT_OF_ORDER_BYTES = 16 << 10, 512 << 10
"""Written by a CTA that comes and goes: writes of all CTAs follow each other up to the first, not at all from the
second on; in between the gain falls with the logarithm."""


def writes_in_order(cta_bytes: float, resident: int, grid: int) -> float:
    """Part of the gain of writes in order of address, where each of ``grid`` CTAs writes ``cta_bytes``."""
    if not cta_bytes:
        return 0.0
    octaves = log2(OUT_OF_ORDER_BYTES / max(cta_bytes, IN_ORDER_BYTES)) / log2(OUT_OF_ORDER_BYTES / IN_ORDER_BYTES)
    return max(octaves, 0.0) * _come_and_go(resident, grid)


def reads_in_order(program: KernelProgram, traffic: Traffic, resident: int) -> float:
    """Part of the gain of reads in order of address, with ``resident`` CTAs of the grid at a time.

    All of it where a CTA asks for everything at once; the next turn of each comes between the first of others.
    Nothing beside writes: loads wait for these as `gpusim.hardware.memory.loaded_latency` says, in order or not.
    """
    ops = (op for role in program.roles for op in program.one_turn(role))
    if traffic.written_bytes > FEW_WRITES * traffic.read_bytes:
        return 0.0
    if not traffic.read_bytes or any(isinstance(op, Load) and (op.stride or op.scatter) for op in ops):
        return 0.0
    stages = max((ring.stages for ring in program.rings), default=1)
    at_once = traffic.tile_bytes / max(map(_turns_of_tile, map(program.one_turn, program.roles))) * stages
    turns = max(traffic.read_bytes / program.grid / at_once, 1.0)
    return _come_and_go(resident, program.grid) / turns


def _turns_of_tile(ops: Sequence[Op]) -> float:
    """How often in a tile warps wait for what they have asked for before they ask for more."""
    turns, asked = 0, False
    for op in ops:
        if isinstance(op, Load):
            asked = True
        if asked and (isinstance(op, WaitLoads) or (isinstance(op, Load) and op.wait)):
            turns, asked = turns + 1, False
    return max(turns / (len({op.tile for op in ops}) or 1), 1.0)


def _come_and_go(resident: int, grid: int) -> float:
    """Part of the CTAs that come when another one has gone."""
    return max(1.0 - resident / grid, 0.0)
