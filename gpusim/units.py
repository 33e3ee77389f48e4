"""Quantities with units, at the edges only: text in, SI floats inside, text out.

Inside the package everything is seconds, bytes, hertz, FLOP and their ratios as plain
numbers. A file, a command line and a screen carry the unit with the number. GB is 10⁹
bytes and GiB is 2³⁰ bytes; nothing is guessed and no expression is evaluated.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from gpusim.errors import UnitError, listing, nearest

__all__ = ["DIMENSIONS", "UNITS", "Unit", "UnitError", "format_quantity", "parse", "parse_any", "parse_bytes"]


@dataclass(frozen=True, slots=True)
class Unit:
    """One way to write a dimension: value in SI (or cycles) = number × ``scale``."""

    symbol: str
    dimension: str
    scale: float

    def of(self, number: float) -> float:
        """``number`` of this unit in SI: 60 us is the same float as 6e-05, which 60 * 1e-06 is not."""
        return number * self.scale if self.scale >= 1.0 else float(Decimal(repr(number)) * Decimal(repr(self.scale)))


_DECIMAL = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}


def _table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}

    def add(dimension: str, scale: float, *symbols: str) -> None:
        for symbol in symbols:
            units[symbol] = Unit(symbol, dimension, scale)

    for prefix, scale in {**_DECIMAL, **_BINARY}.items():
        add("bytes", scale, f"{prefix}B")
        add("bandwidth", scale, f"{prefix}B/s")
        add("bytes_per_cycle", scale, f"{prefix}B/cycle", f"{prefix}B/clk")
    for prefix, scale in _DECIMAL.items():
        add("frequency", scale, f"{prefix}Hz")
        add("flop", scale, f"{prefix}FLOP")
        add("flop_rate", scale, f"{prefix}FLOP/s")
    add("flop_per_cycle", 1.0, "FLOP/cycle", "FLOP/clk")
    add("time", 1.0, "s")
    add("time", 1e-3, "ms")
    # Two different characters look like a micro sign; both are on keyboards.
    add("time", 1e-6, "us", "\u00b5s", "\u03bcs")
    add("time", 1e-9, "ns")
    add("time", 1e-12, "ps")
    add("cycles", 1.0, "cycles", "cycle", "clk")
    add("per_cycle", 1.0, "/cycle", "1/cycle", "instructions/cycle", "lanes/cycle")
    add("per_second", 1.0, "/s", "1/s")
    add("count", 1.0, "", "1")
    add("fraction", 1.0, "x")
    add("fraction", 1e-2, "%")
    add("power", 1.0, "W")
    return units


UNITS: dict[str, Unit] = _table()
"""Every unit by its symbol."""

DIMENSIONS: tuple[str, ...] = tuple(dict.fromkeys(unit.dimension for unit in UNITS.values()))
"""Names of the dimensions, as `parse` takes them."""

_NUMBER = re.compile(r"\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*", re.DOTALL)
_NOT_NUMBERS = ("nan", "inf", ".nan", ".inf", "infinity")
_LONGEST_TEXT = 80  # no quantity is longer; keeps a hostile value out of the message


def parse_any(text: str | float, default_dimension: str | None = None) -> tuple[float, str]:
    """The SI value and the dimension of a quantity: ``"4.8 TB/s"`` → ``(4.8e12, "bandwidth")``.

    A number without a unit is a count, or of ``default_dimension`` where one is given.

    Raises UnitError for an unknown unit, NaN, an infinity, or anything that is not a
    number followed by a unit.
    """
    number, symbol = _split(text, default_dimension)
    unit = UNITS.get(symbol)
    if unit is None:
        fitting = tuple(name for name, known in UNITS.items() if default_dimension in (None, known.dimension))
        raise UnitError(_unfitting(f"unit {symbol!r} of {_shown(text)} is unknown", symbol, fitting))
    dimension = default_dimension if symbol == "" and default_dimension else unit.dimension
    return _finite(unit.of(number), text), dimension


def parse(text: str | float, dimension: str, *, bare: bool = False, negative: bool = False) -> float:
    """The SI value (or cycles) of ``text``, which must have ``dimension``.

    ``bare`` admits a number without a unit and takes it as SI; a count and a fraction
    are bare by nature. ``negative`` admits values below zero.

    Raises UnitError when the dimension differs, naming the units that fit.
    """
    fitting = tuple(symbol for symbol, unit in UNITS.items() if unit.dimension == dimension)
    number, symbol = _split(text, dimension)
    unit = UNITS.get(symbol)
    if unit is None:
        raise UnitError(_unfitting(f"unit {symbol!r} of {_shown(text)} is unknown", symbol, fitting))
    if symbol == "" and (bare or dimension == "fraction"):
        unit = Unit("", dimension, 1.0)
    if symbol == "" and unit.dimension != dimension:
        raise UnitError(_unfitting(f"{_shown(text)} has no unit", symbol, fitting))
    if unit.dimension != dimension:
        problem = f"{_shown(text)} is a {_words(unit.dimension)}, not a {_words(dimension)}"
        raise UnitError(_unfitting(problem, symbol, fitting))
    value = _finite(unit.of(number), text)
    if value < 0 and not negative:
        raise UnitError(f"{_shown(text)} is negative")
    return value


def parse_bytes(text: str | float) -> int:
    """A whole number of bytes; a plain number is taken as bytes. Raises UnitError."""
    value = parse(text, "bytes", bare=True)
    if value != math.floor(value):
        raise UnitError(f"{_shown(text)} is not a whole number of bytes")
    return int(value)


_SHOWN_UNITS: dict[str, tuple[str, ...]] = {
    "time": ("ps", "ns", "us", "ms", "s"),
    "bytes": ("B", "KiB", "MiB", "GiB", "TiB"),
    "bandwidth": ("B/s", "kB/s", "MB/s", "GB/s", "TB/s"),
    "frequency": ("Hz", "kHz", "MHz", "GHz"),
    "flop": ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"),
    "flop_rate": ("FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"),
    "cycles": ("cycles",),
    "per_cycle": ("/cycle",),
    "per_second": ("/s",),
    "bytes_per_cycle": ("B/cycle",),
    "flop_per_cycle": ("FLOP/cycle",),
    "fraction": ("%",),
    "count": ("",),
    "power": ("W",),
}


def format_quantity(value: float, dimension: str, digits: int = 4) -> str:
    """``value`` (SI or cycles) in the unit that reads best, with ``digits`` significant digits.

    Time, bandwidth and rates scale by thousands; bytes by 1024. Raises KeyError for an
    unknown dimension.
    """
    ladder = [UNITS[symbol] for symbol in _SHOWN_UNITS[dimension]]
    if not math.isfinite(value):
        return f"{value} {ladder[0].symbol}".strip()
    if dimension == "count":
        return f"{value:,.{12 if value == round(value) else digits}g}"
    unit = ladder[0]
    for step in ladder:
        # Rounded first, so that 999.99 ns is shown as 1 us and not as 1000 ns.
        if float(f"{abs(value) / step.scale:.{digits}g}") >= 1.0:
            unit = step
    number = f"{value / unit.scale:.{digits}g}"
    if "e" in number:
        number = f"{float(number):.0f}" if abs(float(number)) >= 1 else number
    separator = "" if unit.symbol in ("%", "/cycle", "/s") else " "
    return f"{number}{separator}{unit.symbol}".strip()


_EXAMPLES = {
    "bytes": "16 KiB", "time": "3.82 ms", "bandwidth": "4.8 TB/s", "frequency": "1.98 GHz", "cycles": "33 cycles",
}  # fmt: skip


def _split(text: str | float, dimension: str | None) -> tuple[float, str]:
    """The number and the unit of what should have a ``dimension``, if that is known."""
    example = _EXAMPLES.get(dimension or "bytes")
    expected = f"a number with a unit such as {example!r}" if example else f"a number, a {_words(str(dimension))}"
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise UnitError(f"expected {expected}, got {_shown(text)}")
    if not isinstance(text, str):
        return _finite(text, text), ""
    if text.strip().lstrip("+-").casefold() in _NOT_NUMBERS:
        raise UnitError(f"{_shown(text)} is not a finite number")
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if match is None:
        raise UnitError(f"expected {expected}, got {_shown(text)}")
    number, symbol = match.groups()
    return _finite(number.replace("_", ""), text), symbol


def _finite(number: str | float, text: object) -> float:
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise UnitError(f"{_shown(text)} is not a finite number")
    return value


_EITHER = {
    symbol: (f"{prefix}B", f"{prefix.upper()}iB")
    for prefix in "kMG" for symbol in (prefix.casefold(), f"{prefix}b".casefold())
}  # fmt: skip
"""What stands for powers of 1000 to some and of 1024 to others, in small letters: the units of both."""


def _unfitting(problem: str, symbol: str, fitting: tuple[str, ...]) -> str:
    # The everyday units come first; peta and tebi would only lengthen the message.
    common = [name for name in fitting if name and not name.startswith(("P", "Ti"))]
    decimal, binary = _EITHER.get(symbol.casefold(), ("", ""))
    if binary in common:
        meant = f"{decimal!r} ({UNITS[decimal].scale:,.0f} bytes), or {binary!r} ({UNITS[binary].scale:,.0f})"
        return f"{problem} (allowed: {listing(common, 16)}). Did you mean {meant}?"
    close = nearest(symbol, common)
    hint = f". Did you mean {close!r}?" if close and close != symbol else ""
    return f"{problem} (allowed: {listing(common, 16)}){hint}"


def _words(dimension: str) -> str:
    return {"bytes": "number of bytes", "cycles": "number of cycles"}.get(dimension, dimension.replace("_", " "))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
