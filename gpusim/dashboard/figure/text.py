"""Numbers and names as people read them: nanoseconds below a microsecond, signs on differences, words for names."""

from __future__ import annotations

import math

from gpusim.units import format_quantity

__all__ = [
    "MINUS",
    "bytes_text",
    "counted",
    "delta_text",
    "even_text",
    "percent",
    "signed_percent",
    "signed_points",
    "spaced",
    "time_text",
]

MINUS = "\u2212"
_IN_CAPITALS = {"cta": "CTA", "ctas": "CTAs", "sm": "SM", "fma": "FMA", "gpus": "GPUs", "l2": "L2"}


def time_text(us: float | None, digits: int = 4) -> str:
    """Microseconds in the unit that reads best: ``512 ns``, ``18.24 µs``, ``1.204 ms``."""
    if us is None or not math.isfinite(us):
        return "–"
    if us == 0:
        return "0 ns"
    text = format_quantity(abs(us) * 1e-6, "time", digits).replace(" us", " µs")
    return MINUS + text if us < 0 else text


def even_text(us: float | None, digits: int = 4) -> str:
    """`time_text` with all its digits, for times beside each other: ``1.050 ms`` beside ``1.066 ms``."""
    number, space, unit = time_text(us, digits).partition(" ")
    missing = digits - sum(letter.isdigit() for letter in number.lstrip(f"{MINUS}0."))
    if not space or missing <= 0 or not us:
        return number + space + unit
    return f"{number}{'' if '.' in number else '.'}{'0' * missing} {unit}"


def delta_text(us: float) -> str:
    """A signed difference: ``+30 ns``, ``−1.2 µs``."""
    if round(us, 4) == 0:
        return "±0 ns"
    text = time_text(us, 3)
    return text if us < 0 else f"+{text}"


def percent(fraction: float | None, digits: int = 1) -> str:
    """``0.934`` as ``93.4 %``."""
    return "–" if fraction is None or not math.isfinite(fraction) else f"{100 * fraction:.{digits}f} %"


def signed_percent(fraction: float | None, digits: int = 1) -> str:
    """``-0.021`` as ``−2.1 %``."""
    if fraction is None or not math.isfinite(fraction):
        return "–"
    value = round(100 * fraction, digits)
    sign = "+" if value > 0 else MINUS if value < 0 else "±"
    return f"{sign}{abs(value):.{digits}f} %"


def signed_points(difference: float) -> str:
    """A difference of two fractions in percentage points: ``0.126`` as ``+12.6 points``."""
    return signed_percent(difference).replace("%", "points")


def bytes_text(count: float) -> str:
    """``16384`` as ``16 KiB``."""
    return format_quantity(float(count), "bytes", 4)


def counted(number: int, what: str) -> str:
    """``1 warp``, ``4 warps``, ``quantity`` as ``8 quantities``."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number:,} {what if number == 1 else many}"


def spaced(name: str) -> str:
    """A name of a scenario file in words: ``ctas_per_sm`` is ``CTAs per SM``."""
    return " ".join(_IN_CAPITALS.get(word, word) for word in name.split("_"))
