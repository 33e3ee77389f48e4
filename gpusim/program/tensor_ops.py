"""Ops on the tensor cores that a warp does not wait for: ``wgmma.mma_async`` of Hopper.

Products that a warp waits for (``mma.sync``) are instructions among others: ``mma`` of `Mix`. ``tile`` is that of all
ops (`gpusim.program.ops`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["BYTES_DEEP", "ROWS", "Operand", "Wgmma", "WgmmaWait"]

Operand = Literal["shared", "registers"]
"""Where the first operand of a product lies; the second one is in shared memory."""
BYTES_DEEP = 32
"""Of a row of each operand of a product, whatever the type."""
ROWS = 64
"""Rows of a product; a warpgroup executes it."""


@dataclass(frozen=True, slots=True)
class Wgmma:
    """One group of products: ``count`` times ``wgmma.mma_async``, and ``wgmma.commit_group``.

    By each warpgroup of the role: 64 rows times ``n`` columns, 32 bytes deep, which are ``k`` numbers (16 of FP16 or
    BF16, 8 of TF32, 32 of FP8), into FP32. The first operand is in shared memory or in registers (``a``). The stage of
    the ring that ``reads`` names is read until the group is complete, for which `WgmmaWait` waits.
    ``other``: instructions of one warp in front of them, which wait for each other (descriptors, ``wgmma.fence``).
    """

    n: int
    count: int = 4
    k: int = 16
    a: Operand = "shared"
    other: float = 0.0
    reads: str | None = None
    tile: int = -1


@dataclass(frozen=True, slots=True)
class WgmmaWait:
    """``wgmma.wait_group``: block until at most ``pending`` newest groups are under way."""

    pending: int = 0
    tile: int = -1
