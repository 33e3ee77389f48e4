"""What all warps of a CTA execute to copy its tiles by cp.async and to loop over them, besides computing.

Counted in the machine code (sm_90a) of `realkernels.cp_async_multistage`; a test compares them.
"""

from __future__ import annotations

from typing import Protocol

from gpusim.program import WARP_SIZE
from realkernels._parts.tile_loop import PLACEHOLDERS, VECTOR_BYTES, Share

__all__ = [
    "ISSUE_UNROLL", "RING", "SKIP_OTHER", "CopiedTiles", "executed_by_nobody", "issue_other", "placeholders",
    "shared_bytes", "tile_other",
]  # fmt: skip

ISSUE_UNROLL = 8
"""cp.async in a straight run; more are rolled. Passed to the kernel as a define."""
RING = "input"

OFFSET_REACH = 0x1000
"""Bytes of global addresses that LDGSTS reaches from one base; each further base costs `BASE_OTHER`."""
BASE_OTHER = 2
ISSUE_OTHER = 5
"""Per tile issued: stage address, next source, placeholders."""
UNEVEN_OTHER = 7
"""Once more when the vectors do not divide evenly: comparison, branch, reconvergence, placeholders."""
SKIP_OTHER = 5
"""Per tile of a warp that has no vector to ask for: comparison, branch, reconvergence, next source."""
TURN_OTHER = 10
"""Per turn of a rolled issue loop."""
TILE_OTHER = 17
TILE_OTHER_SINGLE = 10
"""Per tile besides the issue: counters, stage, entry into the vector loop; the latter with one stage."""


class CopiedTiles(Protocol):
    """What the parameters of such a kernel say: bytes of a tile, stages of the ring, warps of a CTA."""

    @property
    def tile_bytes(self) -> int: ...
    @property
    def stages(self) -> int: ...
    @property
    def warps(self) -> int: ...


def shared_bytes(params: CopiedTiles) -> int:
    """Dynamic shared memory of a CTA: ring, an arrival barrier per stage (instrumented build)."""
    return params.stages * (params.tile_bytes + 8)


def issue_other(params: CopiedTiles) -> int:
    """Instructions per tile, besides LDGSTS itself and placeholders, that a warp spends on issuing its share."""
    threads = WARP_SIZE * params.warps
    whole, left = divmod(params.tile_bytes // VECTOR_BYTES, threads)
    turns = whole // ISSUE_UNROLL if whole // ISSUE_UNROLL > 1 else 0
    straight = whole + (left != 0) - turns * ISSUE_UNROLL
    other = ISSUE_OTHER + BASE_OTHER * _bases(straight, threads)
    other += turns * (TURN_OTHER + BASE_OTHER * _bases(ISSUE_UNROLL, threads))
    if left and params.stages > 1:
        other += UNEVEN_OTHER
    return other + (4 if turns and left else 0) - placeholders(params)


def placeholders(params: CopiedTiles) -> int:
    """Loads per tile that no lane executes.

    A run is a turn of the rolled loop, the rest, and the uneven rest where a branch keeps it apart (several stages).
    """
    whole, left = divmod(params.tile_bytes // VECTOR_BYTES, WARP_SIZE * params.warps)
    turns, rest = divmod(whole, ISSUE_UNROLL) if whole // ISSUE_UNROLL > 1 else (0, whole)
    runs = (rest > 0) + (left > 0)
    return PLACEHOLDERS * (turns + (runs if params.stages > 1 else min(runs, 1)))


def executed_by_nobody(part: Share, ahead: int) -> float:
    """Accesses per tile that no lane of a warp executes, where a predicate keeps the uneven rest in the run.

    ``ahead``: placeholders of the run, which a warp with copies of its own counts among them.
    """
    return float(part.left_out + (0 if part.bytes else ahead))


def tile_other(params: CopiedTiles) -> int:
    """Instructions per tile around the vector loop, the issue left out."""
    return TILE_OTHER if params.stages > 1 else TILE_OTHER_SINGLE


def _bases(count: int, threads: int) -> int:
    """Distinct base addresses, besides the first, that ``count`` vectors of one thread need."""
    stride = VECTOR_BYTES * threads
    return len({(i * stride + OFFSET_REACH // 2) // OFFSET_REACH for i in range(count)} - {0})
