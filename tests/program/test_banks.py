"""How often accesses pass shared memory: by hand, and as benches of an H200 have it."""

from __future__ import annotations

import pytest

from gpusim.program.banks import wavefronts
from tests.bench_rows import rows

LANES = range(32)


@pytest.mark.parametrize(
    ("addresses", "width", "expected"),
    [
        ([4 * lane for lane in LANES], 4, 1),
        ([8 * lane for lane in LANES], 8, 2),
        ([16 * lane for lane in LANES], 16, 4),
        ([0 for _ in LANES], 16, 2),
        ([16 * lane for lane in LANES], 4, 4),
        ([128 * lane for lane in LANES], 4, 32),
        ([132 * lane for lane in LANES], 4, 1),
        ([4 * lane if lane < 3 else None for lane in LANES], 4, 1),
        ([None for _ in LANES], 4, 0),
    ],
)
def test_what_each_lane_wants(addresses, width, expected):
    """Words side by side, one for all, a column, a padded column; lanes that want nothing."""
    assert wavefronts(addresses, width) == expected


@pytest.mark.parametrize("access", ["load", "store"])
def test_any_addresses_pass_as_often_as_on_the_h200(access):
    """Tiles, elements by chance and in any order, 4 to 16 bytes wide: 335 patterns each, 2 % off at most."""
    found = rows("banks", access=access)
    assert len(found) == 335
    for row in found:
        expected = wavefronts(row["offsets"], row["bits"] // 8)
        assert row["wavefronts"] == pytest.approx(expected, rel=0.02), row["pattern"]


def test_lanes_that_want_the_same_pass_as_often_as_on_the_h200():
    """Neighbours that share, elements over and over, padded columns."""
    found = rows("words")
    assert len(found) == 99
    for row in found:
        addresses = [lane // row["group"] % row["period"] * row["step"] for lane in LANES]
        expected = wavefronts(addresses, row["bits"] // 8)
        assert row["wavefronts"] == pytest.approx(expected, rel=0.03), row
