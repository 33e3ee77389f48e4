"""Device memory of cudaMalloc: pages, of which small blocks share one.

Models: a block smaller than a page lies in one that is there already, in the smallest gap that has room for it; else
  cudaMalloc takes a new page, and cudaFree of the last block in one gives it back at once. Larger blocks have pages of
  their own, whose rest nobody gets. One page is there from the start with hardly anything in it, because programs keep
  something small that they allocated before.
Omits: programs that keep nothing (each small block that is alone then takes a page, 36 us instead of 3), or that keep
  more.
Source: realkernels.microbench.host (alloc: half_page, caching_miss of 1 MiB; rules: waits). Gaps: addresses and times
  of some 300 calls on an H200, among them blocks that grow, shrink or stay alike, two and twelve at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpusim.host.costs import HostCosts

__all__ = ["ALIGNMENT", "Pages"]

ALIGNMENT = 512
"""Bytes in multiples of which a block takes room; as many are taken of the first page."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Neighbouring bytes of a page, taken or free."""

    page: int
    at: int
    size: int

    @property
    def end(self) -> int:
        return self.at + self.size


class Pages:
    """What cudaMalloc and cudaFree cost the host, apart from waiting."""

    def __init__(self, costs: HostCosts) -> None:
        self._costs = costs
        self._page = int(costs.profile.value("pool.granularity"))
        self._gaps = [_Part(0, ALIGNMENT, self._page - ALIGNMENT)]
        self._pages = 1
        self._blocks: dict[str, _Part] = {}
        """Small blocks by name."""

    def take(self, buffer: str, size: int) -> tuple[float, int]:
        """Seconds for a new block, and the bytes that are taken from the OS for it."""
        if size >= self._page:
            return self._costs.sized("alloc.device", size), size
        size = -(-size // ALIGNMENT) * ALIGNMENT
        gaps = [gap for gap in self._gaps if gap.size >= size]
        if gaps:
            gap = min(gaps, key=lambda gap: (gap.size, gap.page, gap.at))
            self._gaps.remove(gap)
            seconds, taken = self._costs.profile.value("alloc.small_take"), 0
        else:
            gap = _Part(self._pages, 0, self._page)
            self._pages += 1
            seconds, taken = self._costs.sized("alloc.device", self._page), self._page
        self._blocks[buffer] = replace(gap, size=size)
        if gap.size > size:
            self._gaps.append(_Part(gap.page, gap.at + size, gap.size - size))
        return seconds, taken

    def give(self, buffer: str, size: int) -> float:
        """Seconds for a block that goes back."""
        if buffer not in self._blocks:
            return self._costs.sized("alloc.device_free", size)
        free = self._blocks.pop(buffer)
        for gap in [gap for gap in self._gaps if gap.page == free.page and (gap.end == free.at or gap.at == free.end)]:
            self._gaps.remove(gap)
            free = _Part(free.page, min(gap.at, free.at), gap.size + free.size)
        if free.size == self._page:
            return self._costs.sized("alloc.device_free", self._page)
        self._gaps.append(free)
        return self._costs.profile.value("alloc.small_give")
