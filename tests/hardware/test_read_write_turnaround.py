"""What mixing reads and writes leaves of HBM's time, against the bench `few_writes`."""

from __future__ import annotations

from statistics import fmean

import pytest

from gpusim.hardware import load_profile
from gpusim.hardware.memory.read_write_turnaround import MIX_LOSSES, left_when_mixed
from tests.bench_rows import rows

MOST = 64
"""Of one kind for each of the other: with more reads L2 keeps all that the bench writes, with more writes the loss
fades more slowly than is said here (1:128 7 %)."""


def test_between_the_measured_mixes_is_a_straight_line():
    """Nothing is lost where all is of one kind, and the loss of few begins at once."""
    losses = (0.05, 0.06, 0.1, 0.12, 0.16)
    for writes, lost in ((0.0, 0.0), (1 / 128, 0.025), (1 / 64, 0.05), (1 / 4, 0.06), (3 / 8, 0.08), (1 / 2, 0.1),
                         (3 / 4, 0.12), (15 / 16, 0.16), (31 / 32, 0.16), (63 / 64, 0.08), (1.0, 0.0),
                         (1.1, 0.0)):  # fmt: skip
        assert left_when_mixed(writes, losses) == pytest.approx(1.0 - lost)


@pytest.mark.parametrize("device", ["h200_sxm", "h100_sxm"])
@pytest.mark.parametrize(("ctas", "end"), [("staying", ""), ("passing", "_in_order")])
def test_mixes_take_as_long_as_measured(device, ctas, end):
    """Ten for each kind of CTA, from 4 to 64 of one for one of the other; six of them are the profile's own."""
    profile = load_profile(device)
    losses = [profile.value(f"{name}{end}") for name in MIX_LOSSES]
    rates = {(row["reads"], row["writes"]): row["bytes_per_s"] for row in rows("few_writes", device, ctas=ctas)}
    read, write = rates.pop((1, 0)), rates.pop((0, 1))
    off = []
    for (reads, writes), rate in rates.items():
        if max(reads, writes) <= MOST:
            apart = reads / read + writes / write
            left = left_when_mixed(writes / write / apart, losses)
            off.append(left * (reads + writes) / apart / rate - 1.0)
            assert abs(off[-1]) < 0.045, (reads, writes)
    assert len(off) == 10
    assert fmean(map(abs, off)) < 0.013
