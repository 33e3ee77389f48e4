"""Names that go with a chunk: ``data#`` is data0, data1, …, ``data#-2`` that of the chunk two before."""

from __future__ import annotations

__all__ = ["chunks_back", "of_chunk", "speaks_of_earlier"]


def of_chunk(name: str, chunk: int) -> str | None:
    """``name`` in chunk number ``chunk`` (-1, none: as in the first); None if it speaks of one before the first."""
    stem, sign, back = name.partition("#")
    number = max(chunk, 0) + int(back or 0)
    if not sign:
        return name
    return f"{stem}{number}" if number >= 0 else None


def speaks_of_earlier(name: str) -> bool:
    """Whether ``name`` is that of an earlier chunk."""
    return "#-" in name


def chunks_back(name: str) -> int:
    """How many chunks earlier the one is that ``name`` belongs to; 0 where it has none, or its own."""
    return -int(name.partition("#")[2] or 0)
