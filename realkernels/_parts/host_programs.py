"""Pieces that several host techniques are made of."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from gpusim.program.host import Buffer, FixedCost, HostProgram, HostThread, Work
from realkernels._parts.hopper import SMS

__all__ = ["PAGE", "check_parts", "full_work", "in_and_out", "one_thread", "parts", "small_work"]

WORD = 4
PAGE = 4096


def full_work(seconds: float, name: str = "kernel") -> Work:
    """A kernel that leaves no room for another: 2048 threads on each SM, in one wave."""
    return Work(FixedCost(seconds), grid=2 * SMS, threads=1024, name=name)


def small_work(seconds: float, blocks: int = 16, name: str = "kernel") -> Work:
    """A kernel that leaves most of the device free."""
    return Work(FixedCost(seconds), grid=blocks, threads=256, name=name)


def parts(total: int, count: int) -> list[tuple[int, int]]:
    """``count`` ranges (offset, bytes) that cover ``total`` bytes; whole pages where there are enough.

    Raises ValueError if there are not even four bytes for each.
    """
    unit = PAGE if total >= PAGE * count else WORD
    if total < unit * count:
        raise ValueError(f"{total} bytes cannot be cut into {count} parts")
    cuts = [total * i // count // unit * unit for i in range(count)] + [total // WORD * WORD]
    return [(start, end - start) for start, end in pairwise(cuts)]


def check_parts(name: str, total: int, count: int) -> None:
    """Raises ValueError if ``total`` bytes, the amount ``name``, cannot be cut into ``count`` parts."""
    if total < WORD * count:
        raise ValueError(
            f"{name} of {total} cannot be cut into {count} parts of {WORD} bytes and more: use {WORD * count} at least"
        )


def one_thread(name: str, ops: list, **rest: Any) -> HostProgram:
    """A program of a single host thread."""
    return HostProgram(name, (HostThread("main", tuple(ops)),), **rest)


def in_and_out(total: int, place: str) -> tuple[Buffer, ...]:
    """Host input and output and the device buffer between them."""
    return (Buffer("input", total, place), Buffer("output", total, place), Buffer("data", total, "device"))
