"""Device memory by pool: who gets a freed block, when a pool asks the OS, and when it gives back.

Models: a driver pool hands out a free block that was freed on the same stream, or whose free is known to have
  happened (complete, or ordered before by events); else it grows, by at least ``pool.chunk``. Blocks are split. Whole
  chunks that are free, above the threshold, go back at a synchronisation. A caching allocator keeps blocks by stream
  and grows by cudaMalloc.
Omits: fragmentation of the address space, merging of neighbours that were never one block.
Source: CUDA C++ Programming Guide (stream-ordered memory allocator); realkernels.microbench.host (alloc).
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.errors import GpusimError, ProgramError
from gpusim.host.costs import HostCosts
from gpusim.host.work import Item
from gpusim.program.host import Pool

__all__ = ["MemoryPool", "Taken"]


@dataclass(eq=False, slots=True)
class _Chunk:
    """What the OS gave in one go; it goes back as a whole. ``used`` bytes of it are allocated."""

    size: int
    used: int = 0


@dataclass(eq=False, slots=True)
class _Block:
    chunk: _Chunk
    size: int
    stream: str
    freed: Item | None

    @property
    def quiet(self) -> bool:
        """Whether nothing on the device can still touch it."""
        return self.freed is None or self.freed.finished


@dataclass(frozen=True, slots=True)
class Taken:
    """What an allocation cost the host, and the bytes that the OS was asked for."""

    seconds: float
    grown: int


class MemoryPool:
    """One pool of the program, empty at its start."""

    def __init__(self, pool: Pool, costs: HostCosts) -> None:
        self.pool = pool
        self._costs = costs
        self._granularity = int(costs.profile.value("pool.granularity"))
        # A driver pool asks for more than it needs, a caching allocator for what is wanted.
        self._chunk = 0 if pool.kind == "caching" else int(costs.profile.value("pool.chunk"))
        self._free: list[_Block] = []
        self._used: dict[str, tuple[_Chunk, int]] = {}
        self.reserved = 0

    @property
    def caching(self) -> bool:
        """Whether this allocator lives in the host's language."""
        return self.pool.kind == "caching"

    def take(self, name: str, size: int, stream: str, ordered: set[Item]) -> Taken:
        """Allocate; ``ordered`` are items known to come before anything enqueued on ``stream`` now."""
        block = self._find(size, stream, ordered)
        costs = self._costs
        if block is None:
            return self._grow(name, size, stream)
        self._free.remove(block)
        if block.size > size:
            self._free.append(_Block(block.chunk, block.size - size, block.stream, block.freed))
        self._use(name, block.chunk, size)
        return Taken(costs.call("cache_hit" if self.caching else "malloc_async"), 0)

    def _use(self, name: str, chunk: _Chunk, size: int) -> None:
        chunk.used += size
        self._used[name] = (chunk, size)

    def _find(self, size: int, stream: str, ordered: set[Item]) -> _Block | None:
        fitting = [block for block in self._free if block.size >= size]
        own = [block for block in fitting if block.stream == stream]
        if self.caching:
            return min(own, key=lambda b: b.size, default=None)
        known = [b for b in fitting if b.quiet or b.freed in ordered]
        # A block that another stream has yet to free is taken only when the OS has no more memory,
        # which is not modelled: the pool grows instead.
        return min(own or known, key=lambda b: b.size, default=None)

    def _grow(self, name: str, size: int, stream: str) -> Taken:
        rounded = max(-(-size // self._granularity) * self._granularity, self._chunk)
        limit = self.pool.limit
        if limit is not None and self._chunk:
            # CUDA rounds up maxSize too: a pool of at most 8 MiB holds 32 MiB, one of 40 holds 64 (tried on an H100).
            limit = -(-limit // self._chunk) * self._chunk
        seconds = 0.0
        if limit is not None and self.reserved + rounded > limit:
            seconds += self._give_back("alloc.device_free", 0)
            if self.reserved + rounded > limit:
                raise ProgramError(
                    f"pool {self.pool.name!r} has no room for {name!r}: {self.reserved + rounded:,} bytes are needed, "
                    f"{limit:,} are allowed; free buffers earlier or raise the limit",
                    ("pools", self.pool.name),
                )
        self.reserved += rounded
        chunk = _Chunk(rounded)
        self._use(name, chunk, size)
        if rounded > size:
            self._free.append(_Block(chunk, rounded - size, stream if self.caching else "", None))
        os_call = "alloc.device" if self.caching else "pool.grow"
        seconds += self._costs.sized(os_call, rounded)
        return Taken(seconds + self._costs.call("cache_hit" if self.caching else "malloc_async"), rounded)

    def give(self, name: str, stream: str, freed: Item | None) -> float:
        """Free; returns the host's time. Raises GpusimError for what is not allocated here."""
        chunk, size = self._used.pop(name, (None, 0))
        if chunk is None:
            raise GpusimError(f"buffer {name!r} is freed but not allocated from pool {self.pool.name!r}")
        chunk.used -= size
        self._free.append(_Block(chunk, size, stream, freed))
        return self._costs.call("cache_give" if self.caching else "free_async")

    def release(self) -> float:
        """Give back what is free above the threshold, at a synchronisation; returns the host's time."""
        if self.caching:
            return 0.0
        return self._give_back("pool.release", self.pool.release_threshold)

    def _give_back(self, os_call: str, keep: int) -> float:
        """Return whole chunks that nobody uses, down to ``keep`` bytes."""
        seconds = 0.0
        for chunk in dict.fromkeys(block.chunk for block in self._free):
            blocks = [block for block in self._free if block.chunk is chunk]
            if self.reserved <= keep:
                break
            if chunk.used or not all(block.quiet for block in blocks):
                continue
            self._free = [block for block in self._free if block.chunk is not chunk]
            self.reserved -= chunk.size
            seconds += self._costs.sized(os_call, chunk.size)
        return seconds
