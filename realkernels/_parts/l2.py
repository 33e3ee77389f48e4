"""What a kernel finds in L2 of data that was touched before: footprint and distance against what L2 holds.

For techniques that read data again: a program states the fraction of hits, as the ops want it. Every number below comes
from a document or a microbenchmark on an H200 (an H100 keeps 4 MiB less); none of them is a profile quantity yet.
"""

from __future__ import annotations

from math import exp, inf

from gpusim.hardware.memory.access import GRANULE_BYTES, LINE_BYTES
from realkernels._parts.hopper import GPC_SMS

__all__ = [
    "AGAIN_ALL_BYTES", "HELD_BYTES", "MIXED_SWEEPS", "again_hit", "product_hits", "product_sharing", "random_hit",
    "rewritten_hits", "sweep_hit",
]  # fmt: skip

HELD_BYTES = 38 << 20
"""What is left of the 50 MiB of an H100, or 60 of an H200, for data that SMs of both halves read at random: each half
keeps copies of its own. From the bytes that random reads of 16 to 256 MiB fetch from DRAM (`realkernels.microbench`
hits)."""
SHARPNESS = 6
"""How suddenly lines are thrown out when an array outgrows that, from the same bench: 4 % of 32 MiB, 16 % of 40."""
AGAIN_ALL_BYTES, AGAIN_NONE_BYTES = 32 << 20, 52 << 20
"""Read and written between two launches that touch the same in the same order: up to the first all is there again,
from the second on nothing, by the device's counters (`realkernels.microbench` dirty, "same")."""
MIXED_SWEEPS = 7
"""Sweeps over one array after which the order in which CTAs come has half become random: they drift apart
(`realkernels.microbench` sweeps, four loads in flight: half of the hits come after 4 to 11)."""


REREAD_ALL_BYTES, REREAD_NONE_BYTES = 38 << 20, 66 << 20
REWRITTEN_ALL_BYTES, REWRITTEN_NONE_BYTES = 26 << 20, 55 << 20
"""Lines that warps read and write back again and again: up to the first all reads, or writes, find them in L2 and go
no further, from the second on none (`realkernels.microbench` rewritten; both within 0.15 in between). Of an H200; an
H100 keeps 4 MiB less."""


def random_hit(footprint_bytes: float, fetched_bytes: float = inf, piece_bytes: int = GRANULE_BYTES) -> float:
    """Fraction of hits of random reads of ``footprint_bytes``, of which ``fetched_bytes`` have come in so far.

    What came in last is there, as far as L2 holds it, in whole lines. ``piece_bytes`` is what one read fetches: of a
    line that is there because half of it was fetched, the other half may be missing.
    """
    held = (footprint_bytes**-SHARPNESS + HELD_BYTES**-SHARPNESS) ** (-1.0 / SHARPNESS)
    line = held / footprint_bytes
    # A line stays for a number of reads that is distributed geometrically; each brings one of its pieces.
    pieces = max(LINE_BYTES // piece_bytes, 1)
    steady = 1.0 - (1.0 - line) / (1.0 - line * (1.0 - 1.0 / pieces))
    return min(steady, 1.0 - exp(-fetched_bytes / footprint_bytes))


def again_hit(distance_bytes: float) -> float:
    """Fraction of hits of a kernel that goes over what the one before has left, so many bytes of both ago.

    Of its writes, too: those that find their line in L2 do not go on to DRAM. Lines leave in the order in which they
    came, so that it is nearly all or nothing.
    """
    return _falling(distance_bytes, AGAIN_ALL_BYTES, AGAIN_NONE_BYTES)


def rewritten_hits(footprint_bytes: float) -> tuple[float, float]:
    """Fractions of reads and of writes that find ``footprint_bytes`` in L2 which are read and rewritten in turn."""
    return (
        _falling(footprint_bytes, REREAD_ALL_BYTES, REREAD_NONE_BYTES),
        _falling(footprint_bytes, REWRITTEN_ALL_BYTES, REWRITTEN_NONE_BYTES),
    )


def _falling(size: float, all_of: float, none_of: float) -> float:
    return min(max((none_of - size) / (none_of - all_of), 0.0), 1.0)


def sweep_hit(distance_bytes: float, before: float) -> float:
    """Fraction of hits of a sweep over what was touched before, ``distance_bytes`` of other and own data ago.

    ``before``: sweeps up to now. At first lines are wanted again in the order in which they came, later in any.
    """
    in_order = again_hit(distance_bytes)
    mixed = 1.0 - 2.0 ** -((before / MIXED_SWEEPS) ** 2)
    return in_order + mixed * max(random_hit(distance_bytes) - in_order, 0.0)


def product_hits(grid_m: int, grid_n: int, row_bytes: int, column_bytes: int, wave: int) -> tuple[float, float]:
    """Fractions of hits of a product of matrices whose CTAs each read all of a row of tiles and of a column.

    ``grid_m`` CTAs along the rows are next to each other in the grid, ``wave`` CTAs run at a time. All of it stays
    where it fits. Otherwise the CTAs of a wave go along k side by side, so that each of their rows and columns comes
    from DRAM once a wave.
    """
    grid = grid_m * grid_n
    if grid_m * row_bytes + grid_n * column_bytes <= AGAIN_ALL_BYTES:
        rows, columns = grid_m, grid_n
    else:
        rows = columns = 0
        for first in range(0, grid, wave):
            last = min(first + wave, grid) - 1
            columns += last // grid_m - first // grid_m + 1
            rows += min(last - first + 1, grid_m)
    return 1.0 - rows / grid, 1.0 - columns / grid


def product_sharing(grid_m: int) -> tuple[float, float]:
    """How many SMs of a GPC ask for the same tile of a row, and of a column, of such a product.

    CTAs next to each other share columns, and every ``grid_m``-th of them rows. In later waves, too: those who share a
    column end together.
    """
    return max(GPC_SMS / grid_m, 1.0), float(min(grid_m, GPC_SMS))
