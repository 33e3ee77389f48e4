import math

import pytest

from gpusim.dashboard.figure.text import (
    bytes_text,
    counted,
    delta_text,
    even_text,
    percent,
    signed_percent,
    signed_points,
    time_text,
)


@pytest.mark.parametrize(
    ("us", "text"),
    [(0.512, "512 ns"), (18.24, "18.24 µs"), (1204.0, "1.204 ms"), (0.0, "0 ns"), (None, "–"), (math.nan, "–")],
)
def test_a_time_has_the_unit_that_reads_best(us, text):
    assert time_text(us) == text


def test_differences_carry_a_sign():
    assert delta_text(0.03) == "+30 ns"
    assert delta_text(-1.2) == "−1.2 µs"
    assert delta_text(0.0) == "±0 ns"


def test_percentages_and_bytes():
    assert percent(0.934) == "93.4 %"
    assert signed_percent(-0.021) == "−2.1 %"
    assert signed_percent(0.0) == "±0.0 %"
    assert bytes_text(16384) == "16 KiB"


@pytest.mark.parametrize(
    ("us", "digits", "text"),
    [(1050.0, 4, "1.050 ms"), (1066.4, 4, "1.066 ms"), (210.0, 4, "210.0 µs"), (0.05, 3, "50.0 ns"), (0.0, 4, "0 ns"),
     (None, 4, "–"), (-10.2, 4, "−10.20 µs"), (123456.0, 4, "123.5 ms")],
)  # fmt: skip
def test_times_beside_each_other_have_the_same_number_of_digits(us, digits, text):
    assert even_text(us, digits) == text


def test_counted_things_are_one_or_many():
    assert [counted(n, "assumed quantity") for n in (1, 8)] == ["1 assumed quantity", "8 assumed quantities"]
    assert counted(4, "warp") == "4 warps"


def test_differences_of_fractions_are_points():
    assert signed_points(0.126) == "+12.6 points"
