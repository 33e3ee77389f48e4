"""What is kept of the predictions of recordings: it comes back as it was, and that which ships is current."""

import json

import pytest

from gpusim.errors import RecordingError
from gpusim.scenario import predict_params, techniques
from gpusim.timeline.roofline import roofline
from gpusim.validation import accuracy, all_cases, kept_cases, measurements, write_predicted
from gpusim.validation.predicted_file import PREDICTED
from gpusim.validation.recording import recordings_folder


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
def test_shipped_predictions_are_those_of_the_model():
    """The first recording of each technique on each device, predicted anew."""
    kept, _ = kept_cases()
    known = {(case.technique, case.device, case.label): case.comparison.predicted.total_s for case in kept}
    first = {(m.technique.name, m.device): m for m in reversed(measurements())}
    for (name, device), measurement in first.items():
        params = measurement.technique.make_params(dict(measurement.params))
        fresh = predict_params(measurement.technique, params, device, trace=measurement.has_timeline)
        label = ", ".join(f"{key}={value}" for key, value in measurement.params.items())
        assert known[name, device, label] == pytest.approx(fresh.total_s, rel=1e-5), f"{name} on {device}: {label}"
