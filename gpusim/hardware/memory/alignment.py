"""How fast an SM takes in copies that do not start on a line of 128 bytes or a sector of 32, and how many have room.

Models: the mean over all starts at multiples of an alignment.
Source: realkernels.microbench (alignment, offset, under_way); see the profile.
"""

from __future__ import annotations

from functools import lru_cache

from gpusim.hardware.memory.access import LINE_BYTES, SECTOR_BYTES
from gpusim.hardware.profile import DeviceProfile

__all__ = ["Alignment"]

_KEYS = {
    "tma": ("tma.off_sector_", "tma.off_line_", "tma."),
    "cp_async": ("lsu.cp_async_off_sector_", "lsu.cp_async_off_line_", "lsu."),
    "ldg": ("lsu.ldg_off_line_", "lsu.ldg_off_line_", "lsu."),
}
"""Of what starts off a sector, off a line, and on one."""


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

    def rate(self, path: str, align: int) -> float:
        """Bytes per second of copies that start at each multiple of ``align`` in a line equally often."""
        return self.aligned_rate(path) if align >= LINE_BYTES else _mean(self._rates[path], align)

    def room(self, align: int) -> float:
        """Bytes of cp.async that an SM has under way at most."""
        return _mean(self._room, align)


@lru_cache(maxsize=256)
def _mean(at: tuple[float, float, float], align: int) -> float:
    """The mean of ``at``, bytes per second or per room, for copies that start at multiples of ``align`` equally often.

    ``at``: of those that start off a sector, off a line and on one.
    """
    off_sector, off_line, whole = at
    starts = max(LINE_BYTES // max(align, SECTOR_BYTES), 1)
    per_byte = (1.0 / whole + (starts - 1.0) / off_line) / starts
    return 1.0 / (per_byte if align >= SECTOR_BYTES else (per_byte + 1.0 / off_sector) / 2.0)
