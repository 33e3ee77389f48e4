"""A copy within the device as the kernel that it is.

Models: a grid of blocks of ``copy.d2d_threads`` threads, which move ``copy.d2d_block`` bytes each. They are short, and
  many more than find room: what comes behind waits until the last ones are placed, as behind any kernel, and that is
  when the copy is nearly over.
Omits: copies that stay in L2, which take less than their bytes at ``copy.d2d_bandwidth``.
Source: realkernels.microbench.host (copies: copy_beside).
"""

from __future__ import annotations

from math import ceil

from gpusim.hardware.occupancy import resident_ctas
from gpusim.hardware.profile import DeviceProfile
from gpusim.host.block_times import DeviceCopyCost
from gpusim.program.host import Work

__all__ = ["copy_work"]

MOST_WAVES = 16
"""Larger copies are simulated with larger blocks: how late the last ones are placed is told to a part in so many."""
REGISTERS = 32
"""Per thread: as many as leave room for all threads of an SM."""


def copy_work(profile: DeviceProfile, size: int) -> Work:
    """The grid that copies ``size`` bytes; if its blocks do not all find room at once, in whole waves."""
    threads = int(profile.value("copy.d2d_threads"))
    fits = resident_ctas(profile, threads=threads, registers=REGISTERS, shared_bytes=0, name="copy")
    room = fits.ctas_per_sm * int(profile.value("sm.count"))
    blocks = max(ceil(size / profile.value("copy.d2d_block")), 1)
    if blocks > room:
        blocks = room * min(ceil(blocks / room), MOST_WAVES)
    return Work(DeviceCopyCost(size), blocks, threads, REGISTERS, name="copy")
