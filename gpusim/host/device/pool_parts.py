"""Pieces of a pool's addresses: free blocks, and what the OS gave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gpusim.host.device.work import Item

__all__ = ["Block", "Span", "neighbours", "smallest", "whole"]


@dataclass(eq=False, slots=True)
class Block:
    """Free bytes from address ``at`` on."""

    at: int
    size: int
    stream: str
    """Whose it is: the stream that freed it; "": nobody's."""
    freed: Item | None
    """What its stream had to do before; None: nothing."""
    turn: int
    """Number of its free."""
    quiet: bool
    """Whether the pool has seen that nothing on the device can still touch it."""

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.at + self.size

    @property
    def complete(self) -> bool:
        """Whether its stream has come to its free, whoever knows."""
        return self.freed is None or self.freed.finished

    def part(self, first: int, last: int) -> Block:
        """What of it lies between two addresses."""
        at = max(first, self.at)
        return replace(self, at=at, size=min(last, self.end) - at)

    def without(self, first: int, last: int) -> list[Block]:
        """What of it lies outside two addresses."""
        return [self.part(*ends) for ends in _outside(self.at, self.end, first, last)]


@dataclass(frozen=True, slots=True)
class Span:
    """Addresses that the OS gave; each ``chunk`` of them goes back as a whole."""

    at: int
    end: int
    chunk: int

    def without(self, first: int, last: int) -> list[Span]:
        """What of it lies outside two addresses."""
        return [replace(self, at=at, end=end) for at, end in _outside(self.at, self.end, first, last)]


def _outside(at: int, end: int, first: int, last: int) -> list[tuple[int, int]]:
    """The parts of ``at`` … ``end`` before ``first`` and from ``last`` on."""
    if last <= at or first >= end:
        return [(at, end)]
    return [(begin, behind) for begin, behind in ((at, first), (last, end)) if begin < behind]


def smallest(blocks: Iterable[Block], size: int) -> Block | None:
    """The smallest of those with ``size`` bytes at least."""
    return min((block for block in blocks if block.size >= size), key=lambda block: block.size, default=None)


def neighbours(blocks: Iterable[Block]) -> list[tuple[int, int]]:
    """First and end address of free blocks that follow each other without a gap."""
    runs: list[tuple[int, int]] = []
    for block in blocks:
        if runs and runs[-1][1] == block.at:
            runs[-1] = runs[-1][0], block.end
        else:
            runs.append((block.at, block.end))
    return runs


def whole(size: int, unit: int) -> int:
    """``size`` rounded up to whole units."""
    return -(-size // unit) * unit
