"""How often an access to shared memory passes it, if the code says which words its lanes want."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from gpusim.program.banks import WORD, wavefronts
from gpusim.program.kernel import WARP_SIZE
from gpusim.program.sass.atomics import SHARED_ATOMIC, counts_once
from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.thread_numbers import FULL_WARP, MOST_THREADS, Number

__all__ = ["passes"]

_ACCESSES = ("LDS", "STS", SHARED_ATOMIC)
_ADDRESS = re.compile(r"\[([^\]]*)\]")
_SCALED = re.compile(r"(U?R\d+)(?:\.X(\d+))?")


def passes(one: Instruction, known: Callable[[str], Number | None], threads: int) -> float | None:
    """The mean over the warps that any of ``threads`` is of; None where nobody knows, or ``one`` is no such access."""
    address = _ADDRESS.search(one.text)
    if one.root not in _ACCESSES or address is None:
        return None
    warps = MOST_THREADS // WARP_SIZE
    if threads.bit_count() <= warps and all(
        (threads >> warp * WARP_SIZE & FULL_WARP).bit_count() <= 1 for warp in range(warps)
    ):
        return 1.0
    wanted = np.zeros(0)
    for part in address[1].split("+"):
        match = _SCALED.fullmatch(part)
        number = known(match[1] if match else part)
        if number is None:
            return None
        scaled = number.by_thread * (int(match[2]) if match and match[2] else 1)
        wanted = wanted + scaled if len(wanted) else scaled
    found = []
    for warp, lanes in enumerate(wanted.reshape(-1, WARP_SIZE).tolist()):
        active = threads >> warp * WARP_SIZE
        taking = [lane for lane in range(WARP_SIZE) if active >> lane & 1]
        if taking:
            # Where all of it begins is not known, and does not matter.
            first = lanes[taking[0]] // one.width * one.width
            each = one.root == SHARED_ATOMIC and not counts_once(one)
            turns = _updates if each else _turns
            found.append(turns(tuple((lane, lanes[lane] - first) for lane in taking), one.width))
    return sum(found) / len(found) if found else None


@lru_cache(maxsize=4096)
def _turns(wanted: tuple[tuple[int, int], ...], width: int) -> int:
    """Of one warp whose lanes want what lies at these addresses."""
    addresses: list[int | None] = [None] * WARP_SIZE
    for lane, address in wanted:
        addresses[lane] = address
    return wavefronts(addresses, width)


def _updates(wanted: tuple[tuple[int, int], ...], width: int) -> int:
    """The same of an atomic, which takes a turn for each lane, also of the same word."""
    banks = Counter(address // width % (WARP_SIZE * WORD // width) for _, address in wanted)
    return max(banks.values())
