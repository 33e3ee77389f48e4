"""Recordings beside predictions: errors that are known in advance come out."""

import pytest

from gpusim.errors import RecordingError
from gpusim.scenario import loads, predict
from gpusim.validation import accuracy, all_cases, compare, measurement_of

TEXT = "question: q\ndevice: textbook\nkernel: {technique: made_up, params: {stages: 2}}\n"


def total_of(params) -> float:
    """What the model says."""
    return predict(loads(f"{TEXT.replace('stages: 2', f'stages: {params.stages}, tiles: {params.tiles}')}")).total_s


def test_error_is_predicted_over_measured_minus_one(made, params):
    """A kernel 5 % slower than predicted."""
    made.record(params(), total_of(params()) / 0.95)
    comparison = compare(loads(TEXT))
    assert comparison.total_error == pytest.approx(-0.05)
    assert comparison.verdict == "within"
    assert comparison.within


def test_beyond_the_band_is_outside(made, params):
    """9 % is more than 8.5 %."""
    made.record(params(), total_of(params()) / 1.09)
    assert compare(loads(TEXT)).verdict == "outside"


def test_declared_gap_is_a_known_gap(made, params):
    """With its reason."""
    made.record(params(), total_of(params()) / 1.5)
    (made.technique.folder / "known_gaps.yaml").write_text("- {params: {stages: 2}, reason: made up as well}\n")
    comparison = compare(loads(TEXT))
    assert comparison.verdict == "known gap"
    assert comparison.gap == "made up as well"


@pytest.mark.parametrize(
    "text", ["- {parms: {}}", "- {params: [1], reason: r}", "- {params: {}, reason: 3}", "3", "- {reason: r}", "a: 1"]
)
def test_broken_gap_file_is_an_error(made, params, text):
    """Not a silent pass."""
    made.record(params(), 1e-5)
    (made.technique.folder / "known_gaps.yaml").write_text(f"{text}\n")
    with pytest.raises(RecordingError, match="known_gaps"):
        compare(loads(TEXT))


def test_timeline_gives_the_hidden_fraction(made, params):
    """The prediction itself, recorded, has no error at all."""
    timeline = predict(loads(TEXT))
    made.record(params(), timeline.total_s, timeline)
    comparison = compare(loads(TEXT))
    assert comparison.total_error == pytest.approx(0, abs=1e-12)
    assert comparison.hidden_error == pytest.approx(0, abs=1e-12)
    assert comparison.deviation_s == pytest.approx(0, abs=1e-15)
    assert all(entry.error == pytest.approx(0, abs=1e-9) for entry in (*comparison.by_kind, *comparison.by_stage))
    assert {entry.name for entry in comparison.by_stage} == {"stage 0", "stage 1"}


def test_without_a_timeline_only_the_total_is_compared(made, params):
    """Nothing is made up."""
    made.record(params(), 1e-5)
    comparison = compare(loads(TEXT))
    assert comparison.hidden_error is None
    assert comparison.hidden_verdict is None
    assert comparison.as_dict()["deviation_s"] is None


def test_nothing_recorded_names_the_nearest(made, params):
    """So that the user can compare at all."""
    scenario = loads(TEXT)
    assert measurement_of(scenario) is None
    with pytest.raises(RecordingError, match="recorded on no device"):
        measurement_of(scenario, required=True)
    made.record(params(stages=3), 1e-5)
    with pytest.raises(RecordingError, match=r"nearest recording has kernel.params.stages=3"):
        measurement_of(scenario, required=True)


def test_changed_device_has_no_recording(made, params):
    """Nobody has measured it."""
    made.record(params(), 1e-5)
    changed = loads(TEXT, overrides={"device.set.sm.clock": "2 GHz"})
    with pytest.raises(RecordingError, match=r"changes sm\.clock"):
        measurement_of(changed, required=True)


def test_changed_kernel_makes_a_recording_stale(made, params):
    """It says so, it is not dropped."""
    made.record(params(), 1e-5)
    assert not measurement_of(loads(TEXT)).stale
    (made.technique.folder / "kernel.cu").write_text("// another kernel\n")
    assert measurement_of(loads(TEXT)).stale


def test_report_over_everything(made, params):
    """Mean, worst, and the stage count the model would pick."""
    errors = {1: 0.01, 2: -0.04, 3: 0.02}
    for stages, error in errors.items():
        made.record(params(stages=stages), total_of(params(stages=stages)) / (1 + error))
    told = []
    report = accuracy(all_cases(workers=1, progress=lambda done, total: told.append((done, total))))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert report.overall.cases == 3
    assert report.overall.mean_abs == pytest.approx(0.07 / 3)
    assert report.overall.worst == pytest.approx(-0.04)
    assert report.overall.worst_case == "stages=2, tiles=12"
    assert len(report.choices) == 1
    assert report.as_dict()["techniques"][0]["within"] == report.techniques[0].within()


def test_wrong_choice_costs_what_was_measured(made, params):
    """The model's best is the second best on the device."""
    best = min((1, 2, 3), key=lambda stages: total_of(params(stages=stages)))
    other = 1 if best != 1 else 2
    made.record(params(stages=best), 1.1e-5)
    made.record(params(stages=other), 1.0e-5)
    (choice,) = accuracy(all_cases(workers=1)).choices
    assert (choice.predicted_best, choice.measured_best) == ({"stages": best}, {"stages": other})
    assert choice.loss == pytest.approx(0.1)
    assert not choice.right()


def test_known_gaps_count_but_are_not_held_against_the_report(made, params):
    """The numbers have them; what is claimed leaves them out, and is not excused by them."""
    for stages, error in {1: 0.01, 2: 0.5, 3: 0.02}.items():
        made.record(params(stages=stages), total_of(params(stages=stages)) / (1 + error))
    assert not accuracy(all_cases(workers=1)).holds
    gaps = made.technique.folder / "known_gaps.yaml"
    gaps.write_text("- {params: {stages: 2}, reason: made up as well}\n")
    report = accuracy(all_cases(workers=1))
    assert report.holds
    assert report.overall.worst == pytest.approx(0.5)
    assert not report.overall.within()
    gaps.write_text("- {params: {stages: 3}, reason: another one}\n")
    assert not accuracy(all_cases(workers=1)).holds


@pytest.mark.usefixtures("made")
def test_report_without_recordings_is_empty():
    """And no error."""
    report = accuracy(all_cases())
    assert report.overall is None
    assert report.as_dict()["cases"] == []
