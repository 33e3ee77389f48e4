"""What holds a timeline back."""

import pytest

from gpusim.timeline import TimelineBuilder
from gpusim.timeline.bottleneck import PEAK, bottleneck
from gpusim.timeline.roofline import TENSOR_CORES

US = 1e-6


def computing():
    """One lane that computes all the time."""
    builder = TimelineBuilder()
    builder.add("sm[0].cta[0].c", "compute", 0, 10 * US, tile=0)
    return builder.build(total_s=10 * US, bytes_read=1e6, flop=1e6, peak_bytes_per_s=1e12, peak_flop_per_s=1e12)


def test_kind_with_the_largest_share_of_the_critical_path():
    """Neither peak is near."""
    found = bottleneck(computing())
    assert (found.name, found.share) == ("instruction issue", 1.0)
    assert found.lever


def test_products_that_warps_wait_for_are_named():
    """They are no instruction issue, unless others are there, beside which something else is computed."""
    multiplying = computing().with_meta(arithmetic=TENSOR_CORES)
    assert bottleneck(multiplying).name == "fragments and mma.sync"
    builder = TimelineBuilder()
    builder.add("sm[0].cta[0].c", "compute", 0, 9 * US, tile=0)
    builder.add("sm[0].tensor", "product", 0, 1 * US, tile=0)
    beside = builder.build(total_s=9 * US, arithmetic=TENSOR_CORES)
    assert bottleneck(beside).name == "instruction issue"


def test_a_peak_that_is_reached_comes_first():
    """1 MB in 10 µs is 0.1 TB/s."""
    found = bottleneck(computing().with_meta(peak_bytes_per_s=1.1e11))
    assert found.name == "memory bandwidth"
    assert 0.9 < found.share < 0.92
    assert bottleneck(computing().with_meta(peak_flop_per_s=1e11)).name == "FP32 arithmetic"


def test_memory_that_is_busy_with_what_nobody_wants_is_the_bottleneck():
    """A tenth of the peak is used while memory is busy all the time: fetch less; used in full: move less."""
    meta = {"peak_bytes_per_s": 1e12, "hbm_busy": 0.95}
    sparse, dense = (bottleneck(computing().with_meta(**meta, bytes_read=share * 1e12 * computing().total_s))
                     for share in (0.1, 0.9))  # fmt: skip
    assert sparse.name == dense.name == "memory bandwidth"
    assert sparse.share == dense.share == 0.95
    assert "neighbouring lanes" in sparse.lever
    assert "fewer bytes" in dense.lever


def test_bandwidth_that_is_lost_on_the_way_is_what_to_save():
    """0.7 of the peak is used, 0.2 lost to copies off a line: both together are all that there is."""
    held_up = computing().with_meta(peak_bytes_per_s=1e11 / 0.7, off_line_loss=0.2)
    assert bottleneck(held_up).name == "memory bandwidth"
    assert bottleneck(held_up).share == pytest.approx(0.7)
    assert "128-byte lines" in bottleneck(held_up).lever
    assert bottleneck(held_up.with_meta(off_line_loss=0.0)).name == "instruction issue"


def test_l2_that_is_full_is_the_bottleneck():
    """Unless a peak is reached; where SMs move apart for it, there is more to do than to read less."""
    full = computing().with_meta(l2_busy=0.95)
    assert (bottleneck(full).name, bottleneck(full).share) == ("L2 bandwidth", 0.95)
    assert "clusters" in bottleneck(full.with_meta(moving_apart=0.9)).lever
    assert "clusters" not in bottleneck(full).lever
    assert bottleneck(full.with_meta(peak_flop_per_s=1e11)).name == "FP32 arithmetic"
    assert bottleneck(full.with_meta(l2_busy=0.85)).name == "instruction issue"


def test_atomics_that_wait_for_each_other_are_the_bottleneck():
    """Unless L2 is fuller with other things."""
    full = computing().with_meta(atomics_busy=0.95)
    assert (bottleneck(full).name, bottleneck(full).share) == ("atomics", 0.95)
    assert "of a warp or CTA first" in bottleneck(full).lever
    assert bottleneck(full.with_meta(l2_busy=0.97)).name == "L2 bandwidth"
    assert bottleneck(full.with_meta(atomics_busy=0.75)).name == "instruction issue"


def test_a_full_path_of_shared_memory_is_the_bottleneck():
    """What keeps warps from issuing is then no lack of warps."""
    full = computing().with_meta(shared_busy=0.9)
    assert (bottleneck(full).name, bottleneck(full).share, bottleneck(full).of) == ("shared memory", 0.9, PEAK)
    assert "bank conflicts" in bottleneck(full).lever
    assert bottleneck(full.with_meta(shared_busy=0.75)).name == "instruction issue"


def test_a_copy_unit_that_is_full_is_the_bottleneck():
    """It passes loads and stores one after the other, so that neither kind alone tells it."""
    full = computing().with_meta(copy_unit_busy=0.95)
    assert (bottleneck(full).name, bottleneck(full).share) == ("copy unit (TMA)", 0.95)
    assert bottleneck(full.with_meta(copy_unit_busy=0.75)).name == "instruction issue"
    assert bottleneck(full.with_meta(l2_busy=0.95)).name == "L2 bandwidth"


def test_a_host_that_waits_in_every_turn_is_not_told_to_use_more_streams():
    """No unit works half of the time; more streams help only where nobody waits for each chunk."""
    builder = TimelineBuilder()
    for chunk in (0, 1):
        start = 20 * US * chunk
        builder.add("copy_engine[h2d]", "copy", start, start + 8 * US, tile=chunk)
        builder.add("stream[0]", "kernel", start + 8 * US, start + 16 * US, tile=chunk)
        builder.add("host[0]", "wait", start, start + 20 * US, "host_sync", tile=chunk)
    timeline = builder.build(total_s=40 * US)
    found = bottleneck(timeline)
    assert (found.name, round(found.share, 6)) == ("waiting between units", 0.6)
    assert "more streams" in found.lever
    found = bottleneck(timeline.with_meta(waits_in_chunks=True))
    assert (found.name, round(found.share, 6)) == ("host synchronizes in every chunk", 0.6)
    assert "streams" not in found.lever


def test_nothing_recorded_has_no_bottleneck():
    """Only a total."""
    assert bottleneck(TimelineBuilder().build(total_s=1.0)) is None


@pytest.mark.parametrize(
    ("kind", "moved", "name"),
    [("issue", 0, "host"), ("host", 0, "the host's own work"), ("host", 4096, "pageable memory")],
)
def test_what_a_busy_host_does_is_told(kind, moved, name):
    """Calls, work of its own, or copying pageable memory."""
    builder = TimelineBuilder()
    builder.add("host[0]", "issue", 0.0, 10 * US)
    builder.add("host[0]", kind, 10 * US, 40 * US, bytes=moved)
    assert bottleneck(builder.build(source="predicted", total_s=50 * US)).name == name
