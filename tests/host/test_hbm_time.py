"""What reading and writing take of HBM's time, and what kernels told by their bytes make of it."""

from __future__ import annotations

import pytest

from gpusim import loads, predict
from gpusim.hardware import load_profile
from gpusim.host.device.hbm_time import hbm_seconds

PROFILE = load_profile("h200_sxm")
GIB = 1 << 30


def test_each_way_alone_has_its_own_rate():
    assert hbm_seconds(PROFILE, GIB, 0) == pytest.approx(GIB / PROFILE.value("hbm.read_bandwidth"))
    assert hbm_seconds(PROFILE, 0, GIB) == pytest.approx(GIB / PROFILE.value("hbm.write_bandwidth"))
    assert hbm_seconds(PROFILE, 0, 0) == 0.0


def test_mixing_costs_more_than_both():
    """Half and half by what the mix of the profile says."""
    alone = hbm_seconds(PROFILE, GIB, 0) + hbm_seconds(PROFILE, 0, GIB)
    assert hbm_seconds(PROFILE, GIB, GIB) == pytest.approx(alone / (1.0 - PROFILE.value("hbm.mix_loss")), rel=0.02)


def test_a_kernel_that_writes_takes_longer():
    """A saxpy, 2 read and 1 written, against as many bytes that are only read."""

    def total(writes: str) -> float:
        kernel = f"{{bytes: 768 MiB, blocks: 1056, threads: 256{writes}}}"
        return predict(loads(
            f"question: q\ndevice: h200_sxm\nhost:\n  kernels: {{k: {kernel}}}\n"
            "  threads: {main: {per_chunk: [{launch: k}]}}\n"
        )).total_s  # fmt: skip

    longer = hbm_seconds(PROFILE, GIB / 2, GIB / 4) - hbm_seconds(PROFILE, 3 * GIB / 4, 0)
    assert total(", writes: 256 MiB") - total("") == pytest.approx(longer, rel=0.02)
