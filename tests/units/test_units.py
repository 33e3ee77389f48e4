"""Units: what is read, what is refused, and that text survives the way back."""

import math
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.errors import UnitError
from gpusim.units import DIMENSIONS, UNITS, format_quantity, parse, parse_any, parse_bytes


@pytest.mark.parametrize(
    ("text", "dimension", "expected"),
    [
        ("4.8 TB/s", "bandwidth", 4.8e12),
        ("228 KiB", "bytes", 228 * 1024),
        ("228 kB", "bytes", 228_000),
        ("1.98 GHz", "frequency", 1.98e9),
        ("33 cycles", "cycles", 33),
        ("128 B/clk", "bytes_per_cycle", 128),
        ("12us", "time", 12e-6),
        ("12 µs", "time", 12e-6),
        ("12 μs", "time", 12e-6),
        ("94%", "fraction", 0.94),
        ("132", "count", 132),
        ("67 TFLOP/s", "flop_rate", 67e12),
        (" 1e3 ns ", "time", 1e-6),
        ("1_024 B", "bytes", 1024),
    ],
)
def test_quantity_is_read_in_si(text, dimension, expected):
    """A number with a unit becomes SI (cycles stay cycles)."""
    assert parse(text, dimension) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("80 us", 8e-05), ("60 us", 6e-05), ("4.194304 ms", 0.004194304), ("7 ns", 7e-9), ("35%", 0.35)],
)
def test_small_units_give_the_float_that_is_meant(text, expected):
    """Not its neighbour: parameters are compared with those of recordings."""
    assert parse_any(text)[0] == expected


def test_gb_is_not_gib():
    """Decimal and binary prefixes differ by 7.4 %."""
    assert parse_bytes("1 GB") == 10**9
    assert parse_bytes("1 GiB") == 2**30


@pytest.mark.parametrize(
    ("text", "dimension", "message"),
    [
        ("4 Gib", "bytes", "Did you mean 'GiB'"),
        ("4 KB", "bytes", "Did you mean 'kB' (1,000 bytes), or 'KiB' (1,024)?"),
        ("4 m", "bytes", "Did you mean 'MB' (1,000,000 bytes), or 'MiB' (1,048,576)?"),
        ("4 GHz", "time", "is a frequency, not a time"),
        ("4 GB", "bandwidth", "is a number of bytes, not a bandwidth"),
        ("nan s", "time", "expected a number"),
        ("nan", "time", "not a finite number"),
        (float("nan"), "count", "not a finite number"),
        ("-inf", "count", "not a finite number"),
        ("1e999 s", "time", "not a finite number"),
        (10**400, "count", "not a finite number"),
        ("-3 s", "time", "is negative"),
        ("3", "time", "has no unit"),
        (True, "count", "expected a number"),
        (None, "count", "expected a number"),
        ("2*3 B", "bytes", "unknown"),
        ("__import__('os')", "bytes", "expected a number"),
        ("", "bytes", "expected a number"),
        ("1" * 100 + " B", "bytes", "expected a number"),
    ],
)
def test_refusal_says_what_is_allowed(text, dimension, message):
    """A quantity that makes no sense is an error that names the units or the form allowed."""
    with pytest.raises(UnitError, match=re.escape(message)):
        parse(text, dimension)


def test_wrong_dimension_lists_the_units_that_fit():
    """The message for a time offers times and nothing else."""
    with pytest.raises(UnitError) as error:
        parse("4 GHz", "time")
    assert "allowed: s, ms, us" in str(error.value)
    assert "TB/s" not in str(error.value)


def test_a_number_of_bytes_without_a_unit_has_no_likeliest_one():
    """It begins with none of the letters that have two meanings."""
    with pytest.raises(UnitError) as error:
        parse("16", "bytes")
    assert str(error.value) == "'16' has no unit (allowed: B, kB, MB, GB, TB, KiB, MiB, GiB)"


def test_negative_is_allowed_only_on_request():
    """An offset may be negative, a size may not."""
    assert parse("-3 us", "time", negative=True) == pytest.approx(-3e-6)


def test_bytes_are_whole():
    """A fraction of a byte is refused; half a KiB is 512 bytes."""
    assert parse_bytes("0.5 KiB") == 512
    with pytest.raises(UnitError, match="whole number"):
        parse_bytes("0.3 B")


def test_plain_number_takes_the_dimension_expected():
    """A profile entry without a unit is a count, an override of it keeps the dimension."""
    assert parse_any("132") == (132.0, "count")
    assert parse_any(132, "cycles") == (132.0, "cycles")


@given(st.floats(1e-12, 1e15), st.sampled_from(["time", "bandwidth", "frequency", "flop_rate", "cycles"]))
def test_text_survives_the_way_back(value, dimension):
    """Formatting with 12 digits and parsing gives the value again."""
    if value < 1 and dimension != "time":
        value = 1 + value
    assert parse(format_quantity(value, dimension, 12), dimension) == pytest.approx(value, rel=1e-9)


@given(st.text(max_size=120), st.sampled_from(DIMENSIONS))
def test_any_text_is_a_number_or_a_unit_error(text, dimension):
    """Nothing else ever comes out."""
    with suppress(UnitError):
        assert math.isfinite(parse(text, dimension))


def test_format_picks_the_unit_that_reads_best():
    """Rounding never shows 1000 ns."""
    assert format_quantity(999.99e-9, "time") == "1 us"
    assert format_quantity(16384, "bytes") == "16 KiB"
    assert format_quantity(4.8e12, "bandwidth") == "4.8 TB/s"
    assert format_quantity(0.94, "fraction") == "94%"
    assert format_quantity(12345678, "count") == "12,345,678"
    assert format_quantity(float("nan"), "time").startswith("nan")


def test_every_unit_symbol_parses_to_its_scale():
    """The table and the parser agree."""
    for symbol, unit in UNITS.items():
        assert parse(f"1 {symbol}", unit.dimension) == pytest.approx(unit.scale)


@pytest.mark.parametrize(
    ("dimension", "example"),
    [
        ("time", "a unit such as '3.82 ms'"),
        ("bandwidth", "'4.8 TB/s'"),
        ("bytes", "'16 KiB'"),
        ("count", "a count, got"),
    ],
)
def test_example_is_of_what_is_asked_for(dimension, example):
    """Not a size where a time is meant."""
    with pytest.raises(UnitError) as caught:
        parse("soon", dimension)
    assert example in str(caught.value)
