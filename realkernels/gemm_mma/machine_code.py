"""What the compiler makes of the loop over stages, as ``machine_code.json`` has it (`realkernels.gemm_mma.count`).

How far ahead of the products fragments are loaded differs from shape to shape and with the number of stages, and so do
the instructions for the addresses of the copies.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gpusim.program import Mix
from realkernels.gemm_mma import Params

__all__ = ["FILE", "SHAPE", "Counted", "counted"]

FILE = Path(__file__).parent / "machine_code.json"
SHAPE = ("tile_m", "tile_n", "depth", "warps")
"""Parameters that the code depends on besides the number of stages."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a warp executes for one stage."""

    ahead: Mix
    """Before the copies of a stage: their addresses, counters, the branch of the loop."""
    products: Mix
    """Loads of fragments and products."""


def counted(params: Params) -> Counted:
    """The instructions of one configuration."""
    shape = tuple(getattr(params, name) for name in SHAPE)
    return _kernels()[*shape, params.stages]


@cache
def _kernels() -> dict[tuple[int, ...], Counted]:
    """By shape and stages."""
    found = {}
    for one in json.loads(FILE.read_text(encoding="utf-8")):
        code = Counted(_mix(one["loop"]["ahead"]), _mix(one["loop"]["products"]))
        for stages in one["stages"]:
            found[*(one["shape"][name] for name in SHAPE), stages] = code
    return found


def _mix(fields: dict[str, Any]) -> Mix:
    lists = {name: tuple(map(_frozen, fields[name])) for name in ("gaps", "fragments") if name in fields}
    return Mix(**(fields | lists))


def _frozen(number: float | list[int]) -> float | tuple[int, ...]:
    return tuple(number) if isinstance(number, list) else number
