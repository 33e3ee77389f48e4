"""What is kept of the predictions of recordings: it comes back as it was, and that which ships is current."""

import json
from functools import cache

import pytest

from gpusim.errors import RecordingError
from gpusim.scenario import predict_params, techniques
from gpusim.timeline.roofline import roofline
from gpusim.validation import accuracy, all_cases, kept_cases, measurements, write_predicted
from gpusim.validation.cases import compare_with
from gpusim.validation.predicted_file import PREDICTED
from gpusim.validation.recording import params_key, recordings_folder
from gpusim.validation.report import RecordedCase

ONE_IN, MOST_OFF = 10, 1


@cache
def shipped() -> dict[tuple[str, str, str], RecordedCase]:
    """What is kept in the repository, by technique, device and parameters."""
    return {(case.technique, case.device, params_key(case.params)): case for case in kept_cases()[0]}


def test_what_is_kept_comes_back_as_it_was(made, params):
    """Totals, errors and the work that a roofline takes; nothing is predicted for it."""
    made.record(params(), 2e-5)
    made.record(params(stages=3), 1.2e-5)
    cases = all_cases(workers=1)
    (path,) = write_predicted(cases)
    assert path == made.folder / PREDICTED
    kept, missing = kept_cases()
    assert missing == 0
    assert [case.params for case in kept] == [case.params for case in cases]
    for ours, theirs in zip(kept, cases, strict=True):
        assert ours.comparison.total_error == pytest.approx(theirs.comparison.total_error, abs=1e-6)
        assert ours.comparison.verdict == theirs.comparison.verdict
        assert roofline(ours.comparison.measured) == pytest.approx(roofline(theirs.comparison.measured)) or (
            roofline(theirs.comparison.measured) is None
        )
    assert accuracy(kept).overall.worst == pytest.approx(accuracy(cases).overall.worst, abs=1e-6)


def test_a_recording_without_a_kept_prediction_is_counted_not_shown(made, params):
    """As one that was made since the report was written."""
    made.record(params(), 2e-5)
    write_predicted(all_cases(workers=1))
    made.record(params(stages=4), 1e-5)
    kept, missing = kept_cases()
    assert (len(kept), missing) == (1, 1)


def test_what_is_measured_is_read_from_the_recording(made, params):
    """One that was made again counts at once."""
    made.record(params(), 2e-5)
    write_predicted(all_cases(workers=1))
    made.record(params(), 3e-5)
    ((case,), _) = kept_cases()
    assert case.comparison.measured.total_s == 3e-5


@pytest.mark.parametrize("text", ["", "[]", '{"columns": ["params"], "rows": [[{}]]}', '{"rows": []}'])
def test_a_broken_file_says_how_to_make_it_anew(made, params, text):
    made.record(params(), 2e-5)
    (made.folder / PREDICTED).write_text(text)
    with pytest.raises(RecordingError, match="gpusim report --write"):
        kept_cases()


def test_every_shipped_recording_has_a_kept_prediction_and_there_are_no_others():
    """`gpusim report --write` makes them."""
    kept, missing = kept_cases()
    assert missing == 0
    rows = sum(
        len(json.loads(path.read_text())["rows"])
        for technique in techniques().values()
        for path in recordings_folder(technique).glob(f"*/{PREDICTED}")
    )
    assert rows == len(kept) == len(measurements())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "device"), sorted({(m.technique.name, m.device) for m in measurements()}))
def test_shipped_predictions_are_those_of_the_model(name, device):
    """One in ten of a technique's on a device, those that are off by most and those with a timeline among them.

    What the model gains or loses over all recordings is asked of those that are kept (``tests/recorded``).
    """

    def kept(measurement):
        return shipped()[name, device, params_key(measurement.params)].comparison

    found = [m for m in measurements() if (m.technique.name, m.device) == (name, device)]
    by_error = sorted(found, key=lambda m: -abs(kept(m).total_error))
    chosen = [*by_error[:MOST_OFF], *by_error[MOST_OFF::ONE_IN], *[m for m in found if m.has_timeline][:1]]
    for measurement in chosen:
        params = measurement.technique.make_params(dict(measurement.params))
        fresh = predict_params(measurement.technique, params, device, trace=False)
        assert kept(measurement).predicted.total_s == pytest.approx(fresh.total_s, rel=1e-5), (
            f"gpusim report --write: {measurement.params}"
        )


@pytest.mark.slow
def test_shipped_hidden_fractions_are_those_of_the_model():
    """The first recorded timeline of each technique."""
    first = {(m.technique.name, m.device): m for m in reversed(measurements()) if m.has_timeline}
    for (name, device), measurement in first.items():
        params = measurement.technique.make_params(dict(measurement.params))
        fresh = compare_with(predict_params(measurement.technique, params, device), measurement)
        kept = shipped()[name, device, params_key(measurement.params)].comparison
        ours, theirs = (one.metric("hidden_fraction") for one in (fresh, kept))
        assert (ours is None) == (theirs is None), name
        assert ours is None or theirs.error == pytest.approx(ours.error, abs=1e-5), name
