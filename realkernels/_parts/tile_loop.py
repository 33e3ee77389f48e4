"""What the tile kernels execute, as numbers: shares of a tile, instructions per tile, registers.

The counts are those of the compiled kernels (sm_90a). The loop over vectors is exact for every
parameter set, because ``tile.cuh`` hides constants from the compiler; the instructions around
it, once per tile, move by up to `TILE_TOLERANCE` with the parameters. A test compares both
with the SASS.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.program import WARP_SIZE, Mix

__all__ = [
    "EPILOGUE", "FMA_UNROLL", "PLACEHOLDERS", "PROLOGUE", "ROLL_OTHER", "ROLL_SETUP", "TILE_TOLERANCE",
    "VECTOR_BYTES", "WARP_VECTOR_BYTES", "Share", "shares", "shares_apart", "tile_defines", "tile_mix",
]  # fmt: skip

VECTOR_BYTES = 16
WARP_VECTOR_BYTES = WARP_SIZE * VECTOR_BYTES
"""Bytes a warp moves with one instruction."""

PLACEHOLDERS = 3
"""Loads that no lane executes, which the assembler puts before each straight run of LDGSTS."""

FMA_UNROLL = 16
"""Longest straight run of dependent FMAs; more are rolled. Passed to the kernel as a define."""

VECTOR_OTHER = 3
"""Per vector: next address, comparison, branch."""
ROLL_SETUP = 3
"""Per vector whose FMAs are rolled: counter, and the two ends of the reconvergence region."""
ROLL_OTHER = 3
"""Per rolled iteration: counter, comparison, branch."""
TILE_TOLERANCE = 4
"""Instructions by which the stated per-tile overheads may differ from one compilation."""

PROLOGUE = Mix(setup=45, ldc=3)
"""Before the first tile: thread number, addresses, kernel arguments."""
EPILOGUE = Mix(ffma=8, setup=20, ilp=1.0)
"""After the last: four sums to one, a shuffle tree over the warp, the address of the result."""


TAIL = "_tail"
"""Completes the name of the role of those warps that have a vector less than others."""


@dataclass(frozen=True, slots=True)
class Share:
    """Warps of a CTA that treat the same number of vectors per tile.

    ``suffix`` completes the role's name: "", "_part" or "_tail". ``iterations`` vectors per thread and
    tile, of which the last one covers ``last_bytes`` over all warps of the share.
    """

    suffix: str
    warps: int
    iterations: int
    last_bytes: int

    def bytes_of(self, first: int, count: int) -> int:
        """Bytes of iterations ``first`` … ``first + count - 1``, those beyond the share's own left out."""
        count = min(first + count, self.iterations) - first
        if count <= 0:
            return 0
        whole = count * self.warps * WARP_VECTOR_BYTES
        return whole if first + count < self.iterations else whole - self.warps * WARP_VECTOR_BYTES + self.last_bytes

    @property
    def parted(self) -> bool:
        """Whether its last warp is filled only in part, so that its lanes part ways at the last vector."""
        return self.last_bytes % WARP_VECTOR_BYTES != 0

    @property
    def left_out(self) -> bool:
        """Whether other warps have a vector more. A predicated access to that one takes its turn here all the same."""
        return self.suffix == TAIL

    @property
    def bytes(self) -> int:
        """Bytes of one tile that belong to this share."""
        return self.bytes_of(0, self.iterations)


def shares(tile_bytes: int, warps: int) -> tuple[Share, ...]:
    """Who treats what of a tile of ``tile_bytes``: vector ``v`` belongs to thread ``v % (32 * warps)``.

    One share when the vectors divide evenly; else the first warps have one vector more than
    the rest, and the last warp of them may be partly filled. If warps meet at every tile, all wait for that one.
    """
    vectors = tile_bytes // VECTOR_BYTES
    whole, left = divmod(vectors, WARP_SIZE * warps)
    if left == 0:
        return (Share("", warps, whole, warps * WARP_VECTOR_BYTES),)
    head = -(-left // WARP_SIZE)
    first = Share("", head, whole + 1, left * VECTOR_BYTES)
    if head == warps:
        return (first,)
    return first, Share(TAIL, warps - head, whole, (warps - head) * WARP_VECTOR_BYTES if whole else 0)


def shares_apart(tile_bytes: int, warps: int) -> tuple[Share, ...]:
    """The same for warps that do not meet: a warp that is filled only in part has a share of its own."""
    first, *others = shares(tile_bytes, warps)
    if not first.parted or first.warps == 1:
        return first, *others
    filled, rest = divmod(first.last_bytes, WARP_VECTOR_BYTES)
    whole = Share("", filled, first.iterations, filled * WARP_VECTOR_BYTES)
    return whole, Share("_part", 1, first.iterations, rest), *others


def tile_mix(iterations: int, fma_per_element: int, tile_other: float) -> Mix:
    """Instructions of one warp that computes ``iterations`` vectors per lane of one tile.

    ``tile_other`` counts the instructions around the vector loop, once per tile. An FADD
    counts as an FFMA: same pipe, same latency.
    """
    rolls = fma_per_element // FMA_UNROLL if fma_per_element > FMA_UNROLL else 0
    # A rolled run of FMAs is a loop of its own: what surrounds it, once per vector, is code around a loop.
    around, inside = (VECTOR_OTHER + ROLL_SETUP, ROLL_OTHER * rolls) if rolls else (0, VECTOR_OTHER)
    return Mix(
        ffma=4.0 * iterations * (fma_per_element + 1),
        lds=float(iterations),
        other=float(iterations * inside),
        setup=float(iterations * around + tile_other),
        ilp=4.0,
        loads_in_flight=1.0,
        lds_bytes=VECTOR_BYTES,
    )


def tile_defines(tile_bytes: int, fma_per_element: int, warps: int) -> dict[str, int]:
    """The defines that ``tile.cuh`` expects."""
    return {"TILE_BYTES": tile_bytes, "FMA_PER_ELEMENT": fma_per_element, "WARPS": warps, "FMA_UNROLL": FMA_UNROLL}
