"""Which values a quantity of a device may have: one rule, for profile files and for what a scenario sets.

No quantity is negative, and most may be nothing: a device without this latency. What the model divides by may not, what
it counts is whole, pieces have a byte at least, and a part that is lost is not all of it.
"""

from __future__ import annotations

from math import inf
from typing import Any

__all__ = ["allowed_for", "bare_doubt"]

_RATES = frozenset({"bandwidth", "bytes_per_cycle", "flop_per_cycle", "flop_rate", "frequency", "per_cycle"})
"""Dimensions that an amount is divided by."""

_ABOVE_ZERO = frozenset({
    "cluster.reach_2", "cluster.reach_4", "cluster.reach_8",
    "lsu.cp_async_off_line_under_way", "lsu.cp_async_off_sector_under_way", "lsu.cp_async_under_way",
    "lsu.unaligned_line_efficiency", "lsu.unaligned_sector_efficiency", "sm.setup_latency",
    "l2.moving_apart", "tensor.mma_interval", "tma.unaligned_sector_efficiency",
})  # fmt: skip
"""Others that something is divided by, or of which there is some; ``sm.setup_latency`` is the time of an issue slot."""

_MOST, _MOST_SMS = 2**31 - 1, 2**20
"""The largest int, as CUDA counts such things; of SMs fewer, as some lists have an entry for each."""
_WHOLE = {
    "copy.channels": _MOST, "copy.d2d_threads": _MOST, "copy.engines": _MOST, "cta.max_registers_per_thread": _MOST,
    "cta.max_threads": _MOST, "pageable.buffers": _MOST, "sm.count": _MOST_SMS, "sm.max_ctas": _MOST,
    "sm.max_warps": _MOST, "sm.register_allocation_unit": _MOST, "sm.registers": _MOST, "sm.schedulers": _MOST,
    "stream.connections": _MOST, "stream.queue_depth": _MOST, "stream.resident_grids": _MOST,
}  # fmt: skip
"""Counts of what there is at least one of, with the most."""

_PIECES = frozenset({"pageable.piece", "sm.shared_allocation_unit"})
"""Bytes that others are divided into."""

_AT_LEAST_ONE = frozenset({"l2.reads_merged"})
"""What counts at least the one who asks."""

_LOST = ("hbm.mix_loss",)
"""Beginnings of the names of parts that are lost: below one."""


def allowed_for(key: str, dimension: str, value: float) -> str:
    """What quantity ``key`` may be if ``value`` (SI or cycles) is not that, else nothing."""
    most = _WHOLE.get(key, inf)
    rules = (
        (value < 0.0, "zero or more"),
        (value > most, f"at most {most:,}"),
        (key in _WHOLE and not value == int(value) >= 1, "a whole number, at least 1"),
        (key in _PIECES and value < 1.0, "at least 1 B"),
        (key in _AT_LEAST_ONE and value < 1.0, "at least 1"),
        (value == 0.0 and (key in _ABOVE_ZERO or dimension in _RATES), "above zero"),
        (key.startswith(_LOST) and value >= 1.0, "a part, at least 0 and below 1"),
    )
    return next((words for broken, words in rules if broken), "")


_LEAST_BARE = {"bandwidth": (1e6, "B/s", "TB/s"), "frequency": (1e6, "Hz", "MHz")}
_MOST_BARE_S = 0.01
"""Far from what any profile states: rates of GB/s, clocks of GHz, no time of a millisecond."""


def bare_doubt(given: Any, dimension: str) -> str:
    """What is strange about a value without a unit, which is SI: 8 B/s of a memory, 20 s of a launch."""
    try:
        number = float(given)
    except ValueError:
        return ""
    if dimension in _LEAST_BARE:
        least, unit, usual = _LEAST_BARE[dimension]
        if 0.0 < number < least:
            taken = f"{number:g} {unit}"
            return f"a plain number is {unit}, and {taken} is little: write {number:g} {usual}, or {taken}"
    if dimension == "time" and number >= _MOST_BARE_S:
        return f"a plain number is seconds, and {number:g} s is long: write {number:g} us, or {number:g} s"
    return ""
