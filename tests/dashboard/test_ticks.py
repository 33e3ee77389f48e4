"""Labels of the time axis."""

from __future__ import annotations

import pytest

from gpusim.dashboard.ticks import MOST, round_numbers, time_ticks


def test_short_windows_leave_the_ticks_to_plotly():
    """In microseconds, wherever the window begins."""
    assert time_ticks(5000.0, 5100.0)["ticksuffix"] == " µs"


@pytest.mark.parametrize(
    ("window", "first", "last", "count"),
    [
        ((-60.0, 6248.2), "0 ms", "6 ms", 13),
        ((0.0, 2000.0), "0 ms", "2 ms", 11),
        ((1.2e6, 4.9e6), "1,500 ms", "4,500 ms", 7),
    ],
)
def test_long_windows_are_read_in_milliseconds(window, first, last, count):
    """Round numbers, no more of them than fit, each at its place."""
    ticks = time_ticks(*window)
    assert (ticks["ticktext"][0], ticks["ticktext"][-1], len(ticks["ticktext"])) == (first, last, count)
    assert count <= MOST + 1
    assert all(window[0] <= value <= window[1] for value in ticks["tickvals"])
    assert [f"{value / 1000:,.10g} ms" for value in ticks["tickvals"]] == ticks["ticktext"]


def test_round_numbers_reach_from_low_to_high():
    assert round_numbers(-1.3, 2.6, 5) == [-1.0, 0.0, 1.0, 2.0]
    assert round_numbers(0.0, 0.04, 5) == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04])
