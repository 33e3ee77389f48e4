"""Small blocks of device memory: several of them share a page.

Models: blocks up to ``alloc.small`` come out of a page that is there already, if it has room; else cudaMalloc takes a
  new page, and cudaFree of the last block in one gives it back. One page is there from the start, half of it taken.
Omits: alignment, where in a page a block lies.
Source: realkernels.microbench.host (alloc: half_page, caching_miss of 1 MiB; rules: waits).
"""

from __future__ import annotations

from gpusim.host.costs import HostCosts

__all__ = ["Pages"]


class Pages:
    """What cudaMalloc and cudaFree cost the host."""

    def __init__(self, costs: HostCosts) -> None:
        self._costs = costs
        value = costs.profile.value
        self._small, self._page = int(value("alloc.small")), int(value("pool.granularity"))
        # Bytes left in each page, and the page of each block.
        self._room = [self._page // 2]
        self._of: dict[str, int] = {}

    def take(self, buffer: str, size: int) -> tuple[float, int]:
        """Seconds for a new block, and the bytes that are taken from the OS for it."""
        if size > self._small:
            return self._costs.sized("alloc.device", size), size
        page = next((i for i, room in enumerate(self._room) if room >= size), None)
        seconds, taken = self._costs.profile.value("alloc.small_take"), 0
        if page is None:
            page = len(self._room)
            self._room.append(self._page)
            seconds, taken = self._costs.sized("alloc.device", self._page), self._page
        self._room[page] -= size
        self._of[buffer] = page
        return seconds, taken

    def give(self, buffer: str, size: int, waited: bool) -> float:
        """Seconds for a block that goes back, after the call has waited for the device if it must."""
        wake_s = self._costs.profile.value("alloc.free_wake") if waited else 0.0
        if size > self._small:
            return self._costs.sized("alloc.device_free", size) + wake_s
        page = self._of.pop(buffer)
        self._room[page] += size
        if page and self._room[page] == self._page:
            self._room[page] = 0
            return self._costs.sized("alloc.device_free", self._page) + wake_s
        return self._costs.profile.value("alloc.small_give")
