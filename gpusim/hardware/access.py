"""What one warp instruction touches of memory, by the addresses of its lanes.

Models: sectors of 32 bytes (what L2 gives), lines of 128 (what the load-store unit asks for one by one), granules
  of 64 (what DRAM gives) and blocks of 256 (what DRAM opens).
Omits: sectors that a later instruction needs again; a program states such hits as ``l2_hit``.
Source: realkernels.microbench access (strides, random blocks).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from gpusim.program import WARP_SIZE

__all__ = ["BLOCK_BYTES", "GRANULE_BYTES", "LINE_BYTES", "SECTOR_BYTES", "Access", "access_of"]

SECTOR_BYTES, GRANULE_BYTES, LINE_BYTES, BLOCK_BYTES = 32, 64, 128, 256
SAMPLE = 16
"""Instructions over which the average is taken: one may end in the middle of a line."""


@dataclass(frozen=True, slots=True)
class Access:
    """Counts per byte that is wanted: 1/32, 1/128, 1/64 and 1/256 where everything fetched is used.

    ``dense`` says that it is so; ``scattered``, that what is wanted lies anywhere.
    """

    sectors: float
    lines: float
    granules: float
    blocks: float
    dense: bool
    scattered: bool = False

    @property
    def fetched(self) -> float:
        """Bytes that pass between an SM and L2 per byte wanted."""
        return SECTOR_BYTES * self.sectors


DENSE = Access(1 / SECTOR_BYTES, 1 / LINE_BYTES, 1 / GRANULE_BYTES, 1 / BLOCK_BYTES, dense=True)


@lru_cache(maxsize=4096)
def access_of(width: int, stride: int = 0, scatter: int = 0) -> Access:
    """The access of lanes with ``width`` bytes each, ``stride`` bytes apart or in scattered blocks (as in an op)."""
    if scatter:
        lanes = max(scatter // width, 1)
        bytes_of_one = lanes * width

        def count(unit: int) -> float:
            return -(-bytes_of_one // unit) / bytes_of_one

        return _access(count(SECTOR_BYTES), count(LINE_BYTES), count(GRANULE_BYTES), count(BLOCK_BYTES), scattered=True)
    if stride in {0, width}:
        return DENSE
    wanted = width * WARP_SIZE * SAMPLE

    def touched(unit: int, together: int) -> float:
        """Units that ``together`` instructions in a row touch, per byte."""
        found = 0
        for first in range(0, SAMPLE, together):
            lanes = range(first * WARP_SIZE, (first + together) * WARP_SIZE)
            found += len({(lane * stride + byte) // unit for lane in lanes for byte in (0, width - 1)})
        return found / wanted

    # Each instruction has its own sectors and lines; what DRAM opens serves the next one as well.
    return _access(touched(SECTOR_BYTES, 1), touched(LINE_BYTES, 1), touched(GRANULE_BYTES, SAMPLE),
                   touched(BLOCK_BYTES, SAMPLE))  # fmt: skip


def _access(sectors: float, lines: float, granules: float, blocks: float, scattered: bool = False) -> Access:
    dense = sectors * SECTOR_BYTES <= 1.0 and lines * LINE_BYTES <= 1.0
    return Access(sectors, lines, granules, blocks, dense, scattered)
