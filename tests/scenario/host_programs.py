"""Host programs spelled out in short, for tests."""

from __future__ import annotations

from gpusim.scenario import loads

__all__ = ["MIB", "calls", "looped", "scenario"]

MIB = 1 << 20


def scenario(host: str):
    """A scenario of the lines below ``host``."""
    return loads(f"question: Why?\ndevice: textbook\nhost:\n{host}")


def looped(steps: str, chunks: int = 3, more: str = "") -> str:
    """A host program of one thread that calls ``steps`` per chunk."""
    return f"{more}  threads:\n    main:\n      chunks: {chunks}\n      per_chunk: [{steps}]\n"


def calls(steps: str, chunks: int = 3, more: str = "") -> list:
    """What the thread calls."""
    return list(scenario(looped(steps, chunks, more)).program().threads[0].ops)
