"""The place of a timeline under the roofline."""

import pytest

from gpusim.timeline import TimelineBuilder
from gpusim.timeline.bottleneck import bottleneck
from gpusim.timeline.roofline import roofline


def line(bytes_read, flop):
    """A second on a device of 100 bytes/s and 1000 FLOP/s: the roofs meet at 10 FLOP a byte."""
    return TimelineBuilder().build(
        total_s=1.0, bytes_read=bytes_read, flop=flop, peak_bytes_per_s=100, peak_flop_per_s=1000
    )


@pytest.mark.parametrize(
    ("bytes_read", "flop", "roof", "share", "regime"),
    [
        (90, 90, "memory bandwidth", 0.9, "memory-bound"),
        (60, 90, "memory bandwidth", 0.6, "memory-bound"),
        (45, 90, "memory bandwidth", 0.45, "below both roofs"),
        (20, 90, "memory bandwidth", 0.2, "far from both roofs"),
        (63, 640, "FP32 arithmetic", 0.64, "below both roofs"),
        (10, 810, "FP32 arithmetic", 0.81, "compute-bound"),
        (0, 810, "FP32 arithmetic", 0.81, "compute-bound"),
    ],
)
def test_roof_share_and_regime(bytes_read, flop, roof, share, regime):
    """The roof above is the one of which more is reached, as its intensity has it."""
    place = roofline(line(bytes_read, flop))
    assert (place.roof, place.regime) == (roof, regime)
    assert place.share == pytest.approx(share)
    assert place.ridge == 10


@pytest.mark.parametrize(
    ("bytes_read", "flop", "busy", "regime"),
    [(20, 300, 0.9, "memory-bound"), (150, 850, 0.1, "compute-bound"), (80, 900, 0.82, "compute-bound")],
)
def test_roof_and_bottleneck_name_the_same_peak(bytes_read, flop, busy, regime):
    """Also where memory is busy with what nobody wants, where L2 answers, and where both peaks are reached."""
    timeline = line(bytes_read, flop).with_meta(hbm_busy=busy)
    place = roofline(timeline)
    assert place.regime == regime
    assert bottleneck(timeline).name == place.roof
    assert bottleneck(timeline).share == place.share


def test_streams_have_no_roofline():
    """Their timelines do not say bytes and FLOPs of kernels."""
    assert roofline(TimelineBuilder().build(total_s=1.0)) is None
