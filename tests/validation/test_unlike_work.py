"""When a measured timeline is said to be of other work, and when nothing can be told."""

import json
from pathlib import Path

import pytest

from gpusim.scenario import load, predict, predict_params
from gpusim.timeline.activities import Activity, from_activities
from gpusim.timeline.metrics import outside_of_kernels
from gpusim.timeline.timeline import TimelineBuilder
from gpusim.validation import compare_own, measurements
from gpusim.validation.unlike_work import unlike_work

SCENARIOS = Path(__file__).parents[2] / "scenarios"
MIB = 1 << 20


@pytest.fixture(scope="module")
def streams():
    """A host program of 16 kernels, each between a copy of 16 MiB in and one out, with its prediction."""
    scenario = load(SCENARIOS / "stream_pipeline.yaml")
    return scenario, predict(scenario)


@pytest.fixture(scope="module")
def kernel():
    """A kernel of 64 tiles per CTA, with its prediction."""
    scenario = load(SCENARIOS / "stages.yaml")
    return scenario, predict(scenario)


def traced(kernels, copies=(), seconds=1e-3):
    """A trace of so many kernels and of copies (direction, bytes), one after the other."""
    what = [("kernel", "", 0)] * kernels + [("copy", way, size) for way, size in copies]
    return from_activities(
        Activity(kind, seconds * at, seconds * (at + 1), engine=way or "other", bytes=size)
        for at, (kind, way, size) in enumerate(what)
    )


def told(pair, measured):
    scenario, predicted = pair
    return unlike_work(scenario.program(), predicted, measured)


def test_other_numbers_of_kernels_and_bytes_are_told_with_both_sides(streams):
    said = told(streams, traced(3, [("h2d", 16 * MIB)] * 3))
    assert said == (
        "not the same work: kernels (16 predicted, 3 measured), bytes to the device (256 MiB predicted, 48 MiB "
        "measured), bytes from the device (256 MiB predicted, 0 B measured) differ"
    )


@pytest.mark.parametrize("kernels", [8, 16, 17, 64])
@pytest.mark.parametrize("seconds", [1e-6, 1.0])
def test_the_same_bytes_in_other_pieces_are_the_same_work_however_long_it_takes(streams, kernels, seconds):
    size = 256 * MIB // kernels
    assert told(streams, traced(kernels, [("h2d", size), ("d2h", size)] * kernels, seconds)) == ""


def test_copies_of_unknown_size_are_counted_and_those_of_unknown_direction_summed(streams):
    assert "copies (32 predicted, 3 measured)" in told(streams, traced(16, [("h2d", 0)] * 3))
    assert told(streams, traced(16, [("h2d", 0), ("d2h", 0)] * 16)) == ""
    assert told(streams, traced(16, [("other", 32 * MIB)] * 16)) == ""
    assert "bytes copied (512 MiB predicted, 128 MiB measured)" in told(streams, traced(16, [("other", 8 * MIB)] * 16))


def test_a_trace_without_kernels_and_copies_says_nothing(streams, kernel):
    calls = from_activities([Activity("call", 0.0, 1e-3, name="cudaLaunchKernel")])
    assert told(streams, calls) == told(kernel, calls) == ""
    assert told(kernel, TimelineBuilder().build(source="measured", total_s=1.0)) == ""


def test_a_trace_that_names_no_streams_has_kernels_as_well(kernel):
    builder = TimelineBuilder()
    for at in range(3):
        builder.add("thread[7]", "kernel", at * 1e-3, at * 1e-3 + 4e-4)
    measured = builder.build(source="measured", total_s=3e-3)
    assert told(kernel, measured) == "not the same work: kernels (1 predicted, 3 measured) differ"


def test_several_kernels_and_copies_are_other_work_than_one_kernel(kernel):
    assert told(kernel, traced(1)) == ""
    assert told(kernel, traced(3)) == "not the same work: kernels (1 predicted, 3 measured) differ"
    assert "bytes to the device (0 B predicted, 1 MiB measured)" in told(kernel, traced(1, [("h2d", MIB)]))


@pytest.mark.parametrize(("tiles", "unlike"), [(10, False), (64, False), (100, False), (200, True)])
def test_many_more_tiles_of_a_cta_are_other_work_and_fewer_are_those_that_a_probe_kept(kernel, tiles, unlike):
    builder = TimelineBuilder()
    for tile in range(tiles):
        builder.add("sm[0].cta[3].consumer", "compute", tile * 1e-6, (tile + 1) * 1e-6, tile=1000 + tile)
    said = told(kernel, builder.build(source="measured", total_s=1e-3))
    assert said == ("not the same work: tiles of a CTA (64 predicted, 200 measured) differ" if unlike else "")


def test_the_verdict_says_it_first_and_json_holds_it(streams):
    scenario, predicted = streams
    comparison = compare_own(scenario, predicted, traced(3))
    assert comparison.told.startswith("not the same work: kernels (16 predicted, 3 measured), ")
    assert "; total outside (" in comparison.told
    assert json.loads(json.dumps(comparison.as_dict()))["unlike_work"] == comparison.unlike
    assert compare_own(scenario, predicted, predicted).as_dict()["unlike_work"] is None


def test_no_recording_is_taken_for_other_work():
    """One of each technique and kind of lanes."""
    seen = {}
    for one in measurements():
        if one.has_timeline:
            seen.setdefault((one.technique.name, one.device), one)
    for one in seen.values():
        params = one.technique.make_params(dict(one.params))
        predicted = outside_of_kernels(predict_params(one.technique, params, one.device))
        assert unlike_work(one.technique.build(params), predicted, one.timeline()) == ""
