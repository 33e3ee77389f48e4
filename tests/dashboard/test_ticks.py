"""Labels of the time axis."""

from __future__ import annotations

import pytest

from gpusim.dashboard.figure.ticks import MOST, round_numbers, time_ticks


@pytest.mark.parametrize(
    ("window", "unit", "shown"),
    [
        ((-0.3, 61.0), "µs", ["0", "5 µs", "60 µs"]),
        ((50.0, 50.002), "µs", ["50 µs", "50.0002 µs", "50.002 µs"]),
        ((-60.0, 6248.2), "ms", ["0", "0.5 ms", "6 ms"]),
        ((1.2e6, 4.9e6), "ms", ["1,500 ms", "2,000 ms", "4,500 ms"]),
    ],
)
def test_a_window_has_round_labels_at_their_places(window, unit, shown):
    ticks = time_ticks(*window)
    inside = [label for place, label in zip(ticks["tickvals"], ticks["ticktext"], strict=True)
              if window[0] <= place <= window[1] + 1e-9]  # fmt: skip
    assert set(shown) <= set(inside)
    assert 5 <= len(inside) <= MOST + 1
    for place, label in zip(ticks["tickvals"], ticks["ticktext"], strict=True):
        assert float(label.split()[0].replace(",", "")) * (1000 if unit == "ms" else 1) == pytest.approx(place)


def test_ticks_go_on_beyond_the_window_for_a_pan():
    ticks = time_ticks(100.0, 200.0)["tickvals"]
    assert ticks[0] <= 10.0
    assert ticks[-1] >= 290.0


@pytest.mark.parametrize(("low_us", "beside"), [(-0.1, True), (0.0, True), (-5.0, False), (0.1, False)])
def test_a_zero_at_the_left_edge_stands_beside_its_tick_and_is_shown(low_us, beside):
    ticks = time_ticks(low_us, 100.0, 500.0)
    assert ("\u20070" in ticks["ticktext"], ticks["ticklabeloverflow"] == "allow") == (beside, beside)


def test_a_narrow_figure_has_fewer_ticks():
    assert len(time_ticks(0.0, 100.0, 400.0)["tickvals"]) <= len(time_ticks(0.0, 100.0)["tickvals"]) / 2 + 1


def test_round_numbers_reach_from_low_to_high():
    assert round_numbers(-1.3, 2.6, 5) == [-1.0, 0.0, 1.0, 2.0]
    assert round_numbers(0.0, 0.04, 5) == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04])
