"""Plain scalars of a scenario file."""

from __future__ import annotations

import pytest

from gpusim.scenario.yaml_source import parse_scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [("1_000", 1000), ("-1_0", -10), ("1_0.5", 10.5), ("0x1f", 31), ("1e3", 1000.0), (".5", 0.5), ("true", True)],
)
def test_numbers_may_have_underscores_between_digits(text, value):
    """As in Python, one at a time."""
    assert parse_scalar(text) == value


@pytest.mark.parametrize("text", ["0_", "1__0", "-1_", "1_.5", "_1", "0x_", "1e_5"])
def test_what_is_no_number_is_text(text):
    """And no error: the field that it stands in says what it wants."""
    assert parse_scalar(text) == text
