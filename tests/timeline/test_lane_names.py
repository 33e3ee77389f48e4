"""What the name of a lane says."""

import re

import pytest

from gpusim.timeline.lane_names import (
    COPY_ENGINES,
    HOST_THREADS,
    SMS,
    STREAMS,
    above,
    any_host,
    cta_of,
    device_of,
    is_host,
    is_inside,
    last_part,
    parts_of,
    sm_of,
)

DEEP = "gpu[1].stream[0].kernel[3].sm[0].cta[1].input[2]"
LANES = ["host[0]", "gpu[1].copy_engine[h2d]", "copy_engine[d2h]", "stream[copies]", "gpu[0].stream[1]", DEEP,
         "sm[3].tma", "sm[13].cta[1].consumer.warp[2]", "l2", "Process 7: [CUDA HW (0000:9a.0)]"]  # fmt: skip


def test_a_name_is_a_path_of_parts():
    assert [(part.name, part.index) for part in parts_of(DEEP)] == [
        ("gpu", "1"), ("stream", "0"), ("kernel", "3"), ("sm", "0"), ("cta", "1"), ("input", "2"),
    ]  # fmt: skip
    assert last_part(DEEP).text == "input[2]"
    assert last_part("copy_engine[h2d]").index == "h2d"
    assert (above("sm[0].cta[1].consumer.warp[2]"), above("l2")) == ("sm[0].cta[1].consumer", "")


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        (HOST_THREADS, {"host[0]"}),
        (COPY_ENGINES, {"gpu[1].copy_engine[h2d]", "copy_engine[d2h]"}),
        (STREAMS, {"stream[copies]", "gpu[0].stream[1]"}),
        (SMS, {"sm[3].tma", "sm[13].cta[1].consumer.warp[2]"}),
    ],
)
def test_patterns_pick_lanes(pattern, matches):
    assert {lane for lane in LANES if re.search(pattern, lane)} == matches


def test_whose_lane_it_is():
    assert [lane for lane in LANES if is_host(lane)] == ["host[0]"]
    assert [lane for lane in LANES if is_inside(lane)] == [DEEP]
    assert {lane: device for lane in LANES if (device := device_of(lane))} == {
        "gpu[1].copy_engine[h2d]": "1", "gpu[0].stream[1]": "0", DEEP: "1",
    }  # fmt: skip
    assert any_host(LANES)
    assert not any_host(LANES[1:])


@pytest.mark.parametrize(
    ("lane", "sm", "cta"),
    [("sm[3].tma", 3, None), ("sm[13].cta[1].consumer.warp[2]", 13, (13, 1)), (DEEP, None, None), ("l2", None, None)],
)
def test_the_cta_of_a_lane_is_that_of_a_single_kernel(lane, sm, cta):
    assert (sm_of(lane), cta_of(lane)) == (sm, cta)


def test_any_name_is_taken():
    """Those of imported traces too."""
    assert "".join(part.text for part in parts_of("a..b[")) == "ab["
    assert last_part("").text == ""
