import math

import pytest

from gpusim.dashboard.text import bytes_text, delta_text, percent, signed_percent, time_text


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
