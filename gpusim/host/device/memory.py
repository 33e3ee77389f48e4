"""Whether what a program allocates is there at all.

Models: the size of the device's memory, against all buffers that the host has allocated and not freed.
Omits: what the driver takes for itself, what pools keep, memory in pieces.
Source: device properties, data sheets.
"""

from __future__ import annotations

from gpusim.errors import DoesNotFit
from gpusim.hardware.profile import DeviceProfile

__all__ = ["DeviceMemory"]

_CAPACITY = "hbm.capacity"
_GIB = 1 << 30


class DeviceMemory:
    """Bytes of device memory that buffers of the program hold."""

    def __init__(self, profile: DeviceProfile) -> None:
        self._device = profile.name
        # A profile's file need not state it: nothing that is predicted depends on it.
        self._bound = profile.value(_CAPACITY) if _CAPACITY in profile.quantities else float("inf")
        self._held = 0

    def take(self, name: str, size: int) -> None:
        """Count a buffer. Raises DoesNotFit if there is less memory than that."""
        self._held += size
        if self._held > self._bound:
            beside = " with what is allocated already" if self._held > size else ""
            raise DoesNotFit(
                demand=round(self._held / _GIB, 2), bound=round(self._bound / _GIB, 2), unit="GiB",
                what=f"of device memory{beside}",
                lever="allocate less, or free buffers earlier", subject=f"buffer {name!r}", device=self._device,
            )  # fmt: skip

    def give(self, size: int) -> None:
        """A buffer is freed."""
        self._held -= size
