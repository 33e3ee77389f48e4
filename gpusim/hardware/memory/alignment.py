"""How fast an SM takes in copies that do not start on a line of 128 bytes or a sector of 32, and how many have room.

Models: the mean over all starts at multiples of an alignment. Of cp.async in rows: a line takes a turn for each line
  of shared memory in which parts of it land, and another one where its sectors land off a sector there (`turns`).
Omits: rows side by side of which several are in one line.
Source: realkernels.microbench (alignment, offset, under_way; rows, shifted: one turn a cycle); see the profile.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

from gpusim.hardware.memory.access import DENSE, LINE_BYTES, SECTOR_BYTES, Access, access_of
from gpusim.hardware.profile import DeviceProfile

__all__ = ["UNALIGNED", "Alignment", "Start", "access_of_rows", "lands_whole", "turns"]

UNALIGNED = "tma.unaligned_sector_efficiency", "lsu.unaligned_sector_efficiency", "lsu.unaligned_line_efficiency"
"""What HBM gives to copies that start off a sector, or off a line; bulk copies off a line are held up behind it."""

UNIT = 16
"""Bytes of a lane, and the least by which rows are apart."""
_KEYS = {
    "tma": ("tma.off_sector_", "tma.off_line_", "tma."),
    "cp_async": ("lsu.cp_async_off_sector_", "lsu.cp_async_off_line_", "lsu."),
    "ldg": ("lsu.ldg_off_line_", "lsu.ldg_off_line_", "lsu."),
}
"""Of what starts off a sector, off a line, and on one."""


class Start(NamedTuple):
    """How sources and destinations of a copy lie to each other, in bytes.

    ``row``, if it comes in rows, and ``pitch``, from one row to the next in shared memory.
    """

    align: int
    row: int = 0
    pitch: int = 0


class Alignment:
    """What copies of one SM lose by where they start."""

    def __init__(self, profile: DeviceProfile) -> None:
        self._rates = {
            path: tuple(profile.clock_hz * profile.value(f"{key}bandwidth") for key in keys)
            for path, keys in _KEYS.items()
        }
        self._room = tuple(
            profile.value(f"lsu.cp_async_{place}under_way") for place in ("off_sector_", "off_line_", "")
        )

    def aligned_rate(self, path: str) -> float:
        """Bytes per second of "tma", "cp_async" or "ldg" where everything starts on a line."""
        return self._rates[path][-1]

    def rate(self, path: str, start: Start) -> float:
        """Bytes per second of copies that start at each multiple of their alignment in a line equally often."""
        if start.row:
            return self.aligned_rate(path) / (turns(start.row, start.pitch) * LINE_BYTES)
        return self.aligned_rate(path) if start.align >= LINE_BYTES else _mean(self._rates[path], start.align)

    def room(self, start: Start) -> float:
        """Bytes of cp.async that an SM has under way at most."""
        # Rows begin at multiples of what divides their distance.
        return _mean(self._room, start.pitch & -start.pitch if start.row else start.align)


def lands_whole(start: Start) -> bool:
    """Whether every line of what is copied lands in one line of shared memory, so that a request is for all of it."""
    if start.row:
        return start.row % LINE_BYTES == start.pitch % LINE_BYTES == 0
    return start.align >= LINE_BYTES


@lru_cache(maxsize=256)
def access_of_rows(row: int, pitch: int) -> Access:
    """What rows touch of L2: a sector that lands in two of shared memory is fetched for each of them."""
    off_sector = fmean(number * pitch % SECTOR_BYTES != 0 for number in range(LINE_BYTES // UNIT))
    plain = access_of(UNIT, scatter=row) if row < LINE_BYTES else DENSE
    return replace(plain, sectors=plain.sectors * (1.0 + off_sector), dense=False)


@lru_cache(maxsize=256)
def turns(row: int, pitch: int) -> float:
    """Turns of the way into shared memory for each byte of rows of ``row`` bytes, ``pitch`` bytes apart there.

    A row begins on a sector, and what it has of a line comes by itself. All of that goes in one turn that lands in one
    line of shared memory; two, if each sector of it lands in two.
    """
    count, rows = 0, LINE_BYTES // UNIT
    for number in range(rows):
        for first in range(0, row, LINE_BYTES):
            of_line = min(LINE_BYTES, row - first)
            at = (number * pitch + first) % LINE_BYTES
            here = min(of_line, LINE_BYTES - at)
            for part in (here, of_line - here):
                count += (1 + (at % SECTOR_BYTES != 0 and part > UNIT)) if part else 0
    return count / (rows * row)


@lru_cache(maxsize=256)
def _mean(at: tuple[float, float, float], align: int) -> float:
    """The mean of ``at``, bytes per second or per room, for copies that start at multiples of ``align`` equally often.

    ``at``: of those that start off a sector, off a line and on one.
    """
    off_sector, off_line, whole = at
    starts = max(LINE_BYTES // max(align, SECTOR_BYTES), 1)
    per_byte = (1.0 / whole + (starts - 1.0) / off_line) / starts
    return 1.0 / (per_byte if align >= SECTOR_BYTES else (per_byte + 1.0 / off_sector) / 2.0)
