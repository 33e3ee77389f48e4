"""What one warp instruction touches of memory, by the addresses of its lanes.

Models: sectors of 32 bytes (what L2 gives), lines of 128 (what the load-store unit asks for one by one), granules
  of 64 (what DRAM gives) and blocks of 256 (what DRAM opens). What L1 holds passes by banks, as in shared memory.
Omits: sectors that a later instruction needs again, unless it takes the rest of the same structures; a program states
  such hits as ``l2_hit``.
Source: realkernels.microbench access (strides, random blocks), gather, banks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gpusim.program import WARP_SIZE
from gpusim.program.banks import wavefronts

__all__ = [
    "BLOCK_BYTES", "DENSE", "GRANULE_BYTES", "LINE_BYTES", "SECTOR_BYTES", "WIDEST", "Access", "Passes", "access_of",
]  # fmt: skip

SECTOR_BYTES, GRANULE_BYTES, LINE_BYTES, BLOCK_BYTES = 32, 64, 128, 256
WIDEST = 16
"""Bytes per lane of the widest access."""
SAMPLE = 16
"""Instructions over which the average is taken: one may end in the middle of a line."""


_ANYWHERE = 1 << 20
"""Blocks among which scattered ones are picked."""


class Passes(NamedTuple):
    """What loads take of L1 and the load-store unit, per byte that is wanted."""

    missed: float
    """Lines that L1 lacks."""
    held: float
    """Lines that L1 holds."""
    wavefronts: float
    """Turns of the data path for what L1 holds."""


@dataclass(frozen=True, slots=True)
class Access:
    """What an access touches of memory, counted per byte that is wanted."""

    sectors: float
    """Sectors: 1/32 where everything fetched is used."""
    lines: float
    """Lines: 1/128 where everything fetched is used."""
    granules: float
    """Granules: 1/64 where everything fetched is used."""
    blocks: float
    """Blocks: 1/256 where everything fetched is used."""
    wavefronts: float
    """Turns of 128 bytes by banks."""
    dense: bool
    """Whether everything fetched is used."""
    scattered: bool = False
    """Whether what is wanted lies anywhere."""
    again: float = 0.0
    """Lines that the same threads touch again, for the rest of their structures."""
    ends: float = 0.0
    """Sectors of which a warp wants only a part, where all but those at the ends of its bytes are wanted whole."""

    @property
    def fetched(self) -> float:
        """Bytes that pass between an SM and L2 per byte wanted."""
        return SECTOR_BYTES * self.sectors

    def passes(self, l1_hit: float = 0.0, wavefronts: float = 0.0) -> Passes:
        """What loads take of which L1 holds the part ``l1_hit``; ``wavefronts``, per byte, if they are known better."""
        found = 1.0 - (1.0 - l1_hit) * self.lines / (self.lines + self.again)
        held = l1_hit * self.lines + self.again
        return Passes((1.0 - l1_hit) * self.lines, held, found * (wavefronts or self.wavefronts))


DENSE = Access(1 / SECTOR_BYTES, 1 / LINE_BYTES, 1 / GRANULE_BYTES, 1 / BLOCK_BYTES, 1 / LINE_BYTES, dense=True)


@lru_cache(maxsize=4096)
def access_of(
    width: int, stride: int = 0, scatter: int = 0, structure: int = 0, shift: int = 0, run: int = 0
) -> Access:
    """The access of lanes with ``width`` bytes each, ``stride`` bytes apart or in scattered blocks (as in an op).

    Or of several instructions that together take every byte of a ``structure`` of each lane: L1 has what the first of
    them has fetched. Or of lanes side by side of which the first is ``shift`` bytes behind the start of a sector, where
    ``run`` bytes side by side are touched at about the same time.
    """
    if shift:
        wanted = width * WARP_SIZE
        sectors, lines = wanted / SECTOR_BYTES + 1.0, wanted / LINE_BYTES + 1.0
        return replace(DENSE, sectors=sectors / wanted, lines=lines / wanted, ends=2.0 / max(run, wanted), dense=False)
    if structure > width:
        part = access_of(width, structure)
        return replace(DENSE, again=part.lines - DENSE.lines, wavefronts=part.wavefronts)
    if scatter:
        lanes = max(scatter // width, 1)
        bytes_of_one = lanes * width

        def count(unit: int) -> float:
            return -(-bytes_of_one // unit) / bytes_of_one

        return _access(count(SECTOR_BYTES), count(LINE_BYTES), count(GRANULE_BYTES), count(BLOCK_BYTES),
                       _wavefronts(_anywhere(lanes, bytes_of_one, width), width), scattered=True)  # fmt: skip
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
    lanes_at = range(0, WARP_SIZE * stride, stride)
    return _access(touched(SECTOR_BYTES, 1), touched(LINE_BYTES, 1), touched(GRANULE_BYTES, SAMPLE),
                   touched(BLOCK_BYTES, SAMPLE), _wavefronts([lanes_at], width))  # fmt: skip


def _access(
    sectors: float, lines: float, granules: float, blocks: float, wavefronts: float, scattered: bool = False
) -> Access:
    dense = sectors * SECTOR_BYTES <= 1.0 and lines * LINE_BYTES <= 1.0
    return Access(sectors, lines, granules, blocks, wavefronts, dense, scattered)


def _anywhere(lanes: int, block: int, width: int) -> Iterable[list[int]]:
    """Addresses of some instructions' lanes, ``lanes`` neighbours in each block; the same in every run."""
    chance = np.random.default_rng(0)
    for _ in range(SAMPLE):
        firsts = (block * chance.integers(_ANYWHERE, size=-(-WARP_SIZE // lanes))).tolist()
        yield [firsts[lane // lanes] + lane % lanes * width for lane in range(WARP_SIZE)]


def _wavefronts(instructions: Iterable[Iterable[int]], width: int) -> float:
    """Turns per byte, on average, as in shared memory."""
    turns = [wavefronts(list(addresses), width) for addresses in instructions]
    return sum(turns) / (len(turns) * WARP_SIZE * width)
