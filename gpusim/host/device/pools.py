"""Device memory by pool: who gets a freed block, when a pool asks the OS, and when it gives back.

Models: a driver pool is one range of addresses that grows at its end, in chunks of ``pool.chunk``. It hands out, the
  smallest that is large enough, what was freed on the same stream; a gap that belongs to nobody; what another stream
  has freed (it looks at one after the other) if that is complete, or ordered before by events; then neighbours of all
  these and the free end, for which it looks at all others once more; else it grows by what is missing behind that end.
  A look takes longest at a stream that has nothing to do any more, unless the host has seen the device idle since. What
  is seen to be complete the second time, or at a synchronisation, belongs to nobody from then on and is one with its
  neighbours. Until then neighbours that were freed on the same stream are one block, free behind the last of them.
  Chunks that are free, above the threshold, go back at a synchronisation. A caching allocator keeps blocks by stream
  and grows by cudaMalloc of what is wanted (`Pages`).
Omits: which of two gaps of equal size is taken (here the one in front).
Source: CUDA C++ Programming Guide (stream-ordered memory allocator); realkernels.microbench.host (alloc: arena, looks).
  Whose block comes next, and that the time goes by how many streams were looked at: addresses and times of 2352
  allocations of one to seven streams in turn, of one to three sizes, on an H200, 2322 of them as here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from gpusim.errors import GpusimError, ProgramError
from gpusim.host.costs import HostCosts
from gpusim.host.device.pages import ALIGNMENT, Pages
from gpusim.host.device.pool_parts import Block, Span, neighbours, smallest, whole
from gpusim.host.device.work import Item
from gpusim.program.host import Pool

__all__ = ["MemoryPool", "Taken"]


@dataclass(frozen=True, slots=True)
class Taken:
    """What an allocation cost the host, and the bytes that the OS was asked for."""

    seconds: float
    grown: int


class MemoryPool:
    """One pool of the program, empty at its start. ``pages``: where cudaMalloc of its device takes blocks from."""

    def __init__(self, pool: Pool, costs: HostCosts, pages: Pages | None = None) -> None:
        self.pool = pool
        self._costs = costs
        self._pages = pages or Pages(costs)
        # A driver pool asks for more than it needs, a caching allocator for what is wanted.
        self._chunk = 0 if pool.kind == "caching" else int(costs.profile.value("pool.chunk"))
        self._free: list[Block] = []
        """In the order of their addresses, as all lists here."""
        self._given: list[Span] = []
        """What the OS gave: neighbours together, however many chunks that are."""
        self._used: dict[str, tuple[int, int]] = {}
        """Address and size of each buffer."""
        self._frees = 0
        self.freeing: dict[str, None] = {}
        """Streams that free into it, in the order in which they are looked at."""

    @property
    def reserved(self) -> int:
        """Bytes that the OS gave and did not get back."""
        return sum(span.end - span.at for span in self._given)

    @property
    def caching(self) -> bool:
        """Whether this allocator lives in the host's language."""
        return self.pool.kind == "caching"

    def take(
        self, name: str, size: int, stream: str, ordered: set[Item], look_s: Callable[[str], float] = lambda _: 0.0
    ) -> Taken:
        """Allocate; ``ordered`` are items known to come before anything enqueued on ``stream`` now.

        ``look_s``: what it takes to look whether another stream has come to its frees.
        """
        grown, seconds = 0, self._costs.call("cache_hit" if self.caching else "malloc_async")
        run, spent_s = self._found(size, stream, ordered, look_s)
        seconds += spent_s
        if run is None:
            run, grown, os_seconds = self._grow(name, size, stream)
            seconds += os_seconds
        at = run[0].at
        for block in run:
            self._free.remove(block)
            if block.end > at + size:
                self._free.append(block.part(at + size, block.end))
        self._settle()
        self._used[name] = at, size
        return Taken(seconds, grown)

    def _found(
        self, size: int, stream: str, ordered: set[Item], look_s: Callable[[str], float]
    ) -> tuple[list[Block] | None, float]:
        """Free neighbours of ``size`` bytes at least, or None, and what it took to look for them."""
        spent_s = 0.0
        if not self.caching:
            end = self._end()
            own = smallest((block for block in self._free if block.stream == stream), size)
            found = own or smallest((block for block in self._free if not block.stream and block.end != end), size)
            if found is not None:
                return [found], 0.0
            for other in self.freeing:
                if other != stream:
                    spent_s += look_s(other)
                    theirs = (block for block in self._free if block.stream == other)
                    found = smallest((block for block in theirs if block.complete or block.freed in ordered), size)
                    if found is not None:
                        return [found], spent_s
            self._look()
            spent_s = 2 * spent_s + self._costs.profile.value("pool.general")
        fitting = [run for run in self._runs(stream) if run[-1].end - run[0].at >= size]
        return min(fitting, key=lambda run: run[-1].end - run[0].at, default=None), spent_s

    def _runs(self, stream: str) -> list[list[Block]]:
        """Neighbours that may be taken together: nobody's, of a caching allocator those of ``stream``.

        A block that a stream has yet to free is taken by another one only when the OS has no more memory, which is not
        modelled: the pool grows instead. It does so too where the stream's own and nobody's would do together.
        """
        owner = stream if self.caching else ""
        runs: list[list[Block]] = []
        for block in self._free:
            if block.stream == owner:
                if runs and runs[-1][-1].end == block.at:
                    runs[-1].append(block)
                else:
                    runs.append([block])
        return runs

    def _grow(self, name: str, size: int, stream: str) -> tuple[list[Block], int, float]:
        """Ask for more; returns free neighbours of ``size`` bytes at least, what the OS gave, and the host's time."""
        seconds = 0.0
        tail, grown = self._missing(size, stream)
        limit = self.pool.limit
        if limit is not None and self._chunk:
            # CUDA rounds up maxSize too: a pool of at most 8 MiB holds 32 MiB, one of 40 holds 64 (tried on an H100).
            limit = whole(limit, self._chunk)
        if limit is not None and self.reserved + grown > limit:
            seconds = self._give_back("alloc.device_free", 0)
            # The free end may have gone back, or may now begin elsewhere.
            tail, grown = self._missing(size, stream)
            if self.reserved + grown > limit:
                raise ProgramError(
                    f"pool {self.pool.name!r} has no room for {name!r}: {self.reserved + grown:,} bytes are needed, "
                    f"{limit:,} are allowed; free buffers earlier or raise the limit",
                    ("pools", self.pool.name),
                )
        # What a caching allocator got in one go has no neighbours.
        at = self._end() if self._chunk else self._end() + 1
        step = self._chunk or grown
        if not self.caching and not self._given:
            seconds += self._costs.profile.value("pool.first")
        before = self._given[-1] if self._given else None
        if before is not None and before.end == at and before.chunk == step:
            self._given[-1] = replace(before, end=at + grown)
        else:
            self._given.append(Span(at, at + grown, step))
        new = Block(at, grown, stream if self.caching else "", None, 0, True)
        self._free.append(new)
        if self.caching:
            os_seconds, grown = self._pages.take(self._block_of(at), grown)
        else:
            os_seconds = self._costs.sized("pool.grow", grown)
        return [*tail, new], grown, seconds + os_seconds

    def _block_of(self, at: int) -> str:
        """What a block that a caching allocator has is called where it comes from."""
        return f"{self.pool.name} at {at}"

    def _missing(self, size: int, stream: str) -> tuple[list[Block], int]:
        """The free end that ``stream`` may have, and the bytes that the OS has to add behind it for ``size``."""
        end = self._end()
        tails = [run for run in self._runs(stream) if self._chunk and run[-1].end == end]
        tail = tails[0] if tails else []
        there = tail[-1].end - tail[0].at if tail else 0
        return tail, whole(size - there, self._chunk or ALIGNMENT)

    def _end(self) -> int:
        return self._given[-1].end if self._given else 0

    def give(self, name: str, stream: str, freed: Item | None) -> float:
        """Free; returns the host's time. Raises GpusimError for what is not allocated here."""
        if name not in self._used:
            raise GpusimError(f"buffer {name!r} is freed but not allocated from pool {self.pool.name!r}")
        at, size = self._used.pop(name)
        self._frees += 1
        self.freeing[stream] = None
        self._free.append(Block(at, size, stream, freed, self._frees, self.caching))
        self._settle()
        return self._costs.call("cache_give" if self.caching else "free_async")

    def _look(self) -> None:
        """See which frees are complete; they belong to nobody any more."""
        for block in self._free:
            if block.complete:
                block.quiet, block.stream = True, ""
        self._settle()

    def _settle(self) -> None:
        """Put free blocks in order, and neighbours that were freed on one stream together."""
        blocks, self._free = sorted(self._free, key=lambda block: block.at), []
        for block in blocks:
            before = self._free[-1] if self._free else None
            same = before is not None and before.end == block.at and before.stream == block.stream
            if same and before.quiet == block.quiet:
                last = max(before, block, key=lambda block: block.turn)
                self._free[-1] = replace(last, at=before.at, size=before.size + block.size)
            else:
                self._free.append(block)

    def release(self) -> float:
        """Give back what is free above the threshold, at a synchronisation; returns the host's time."""
        if self.caching:
            return 0.0
        self._look()
        return self._give_back("pool.release", self.pool.release_threshold)

    def _give_back(self, os_call: str, keep: int) -> float:
        """Return chunks that nobody uses, the last one first, down to ``keep`` bytes; the host's time."""
        spare = self.reserved - keep
        if spare <= 0:
            return 0.0
        back: list[Span] = []
        given = 0
        unused = [
            span for run in neighbours(block for block in self._free if block.quiet) for span in self._within(run)
        ]
        for span in reversed(unused):
            # As many as leave no more than is to be kept; the last one may leave less.
            size = min(whole(spare - given, span.chunk), span.end - span.at)
            back.append(replace(span, at=span.end - size))
            given += size
            if given >= spare:
                break
        for span in back:
            self._given = [part for whole in self._given for part in whole.without(span.at, span.end)]
            self._free = [part for block in self._free for part in block.without(span.at, span.end)]
        self._settle()
        if self.caching:
            return sum(self._pages.give(self._block_of(span.at), span.end - span.at) for span in back)
        return self._costs.sized(os_call, given) if given else 0.0

    def _within(self, run: tuple[int, int]) -> list[Span]:
        """The whole chunks between two addresses."""
        found = []
        for span in self._given:
            first = max(span.at, span.at + whole(run[0] - span.at, span.chunk))
            last = min(span.end, span.at + (run[1] - span.at) // span.chunk * span.chunk)
            if first < last:
                found.append(Span(first, last, span.chunk))
        return found
