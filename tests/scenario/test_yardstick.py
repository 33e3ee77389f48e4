"""By what the points of a sweep are ranked."""

import pytest

from gpusim.scenario.sweeps.yardstick import yardstick_of


def kernel(read=0.0, written=0.0, flop=0.0):
    return {"bytes read": read, "bytes moved": read + written, "flop": flop, "flop of tensor cores": 0.0}


@pytest.mark.parametrize(
    ("one", "other", "per", "differ"),
    [
        (kernel(8, 8, 5), kernel(8, 8, 5), "", ""),
        (kernel(8, 8, 100), kernel(8, 8, 105), "", ""),  # instructions around the loop
        (kernel(8, 8, 5), kernel(16, 16, 10), "FLOP", "FLOPs"),
        (kernel(8, 8, 5), kernel(8, 8, 10), "FLOP", "FLOPs"),
        (kernel(64, 8, 5), kernel(32, 8, 5), "", ""),  # a larger tile of a product: the same result from fewer bytes
        (kernel(64, 0, 5), kernel(32, 0, 5), "byte", "bytes"),  # nothing tells that the result is the same
        (kernel(8, 8), kernel(16, 16), "byte", "bytes"),
        (kernel(8, 0, 0), kernel(8, 0, 5), "", "FLOPs"),  # of no FLOPs there is no time per FLOP
        ({"h2d": 4, "d2h": 4}, {"h2d": 8, "d2h": 8}, "byte", "bytes"),
        ({"h2d": 4, "seconds of blocks": 1}, {"h2d": 4, "seconds of blocks": 2}, "", "seconds"),
    ],
)
def test_amounts_that_differ(one, other, per, differ):
    """FLOPs come before bytes, and what the file states in seconds has no measure."""
    found = yardstick_of([one, other])
    assert found.per == per
    assert found.differ.partition(" ")[0] == differ
