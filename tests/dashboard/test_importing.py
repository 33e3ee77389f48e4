"""Traces of the user's own in the place of the recording: what is read, what is refused, what the page says."""

import base64
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from gpusim.dashboard.page import imports
from gpusim.dashboard.page.address import asked_of
from gpusim.dashboard.page.asking import wanted
from gpusim.dashboard.page.case import MEASURED, UNCHANGED, Asked, CaseError
from gpusim.dashboard.page.content import show_case
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.dashboard.page.importing import import_message, imported_after, imported_mark
from gpusim.dashboard.page.imports import MOST_FILES
from gpusim.timeline.export import to_chrome_json
from gpusim.validation.recording import save_timeline

FOLDER = Path(__file__).parents[2] / "scenarios"
CHANGE = "kernel.params.grid=100"


@pytest.fixture(scope="module")
def folder():
    return ScenarioFolder(FOLDER)


@pytest.fixture(scope="module")
def trace(folder):
    """The export of a scenario with both sides, the measured one half a second long."""
    case = folder.case(Asked("stages"))
    measured = case.other.timeline.with_meta(total_s=0.5)
    return to_chrome_json({"predicted": case.predicted.timeline, "measured": measured}).encode()


def texts(component):
    return json.dumps(component, default=lambda part: part.to_plotly_json(), ensure_ascii=False)


def test_a_trace_takes_the_place_of_the_recording(folder, trace):
    key = folder.import_trace(Asked("stages"), "mine.json", trace)
    case = folder.case(Asked("stages", imported=key))
    assert (case.imported, case.against, case.recorded) == ("mine.json", MEASURED, True)
    assert case.other_numbers.total_s == 0.5
    assert len(case.other.timeline) == len(folder.case(Asked("stages")).other.timeline)
    badge = case.badges[0]
    assert (badge.text, badge.tone) == ("imported mine.json", "warn")
    assert "recorded" not in [badge.text for badge in case.badges]
    shown = show_case(folder, Asked("stages", imported=key))
    assert "back to the recording" in texts(shown["imported"])
    assert asked_of(shown["case"]).imported == key


def test_a_trace_of_another_program_is_told_where_the_error_stands(folder):
    kernels = [
        {"ph": "X", "cat": "kernel", "name": "k", "ts": 9 * n, "dur": 5, "args": {"stream": 7}} for n in range(3)
    ]
    key = folder.import_trace(Asked("stages"), "mine.json", json.dumps(kernels).encode())
    shown = show_case(folder, Asked("stages", imported=key))
    assert ", not the same work" in texts(shown["cards"][0])
    assert "within" not in texts(shown["cards"])
    assert "Not the same work: kernels (1 predicted, 3 measured) differ." in texts(shown["message"])
    assert show_case(folder, Asked("stages"))["message"] == []


def test_the_recording_is_not_touched(folder, trace):
    before = folder.case(Asked("stages"))
    folder.import_trace(Asked("stages"), "mine.json", trace)
    assert folder.case(Asked("stages")) is before
    assert imported_mark(before) == []


def test_a_what_if_stays_beside_the_trace(folder, trace):
    """With the choice of what it stands against."""
    key = folder.import_trace(Asked("stages"), "mine.json", trace)
    asked = Asked("stages", changes=(CHANGE,), imported=key)
    assert folder.case(asked).against == MEASURED
    assert show_case(folder, asked)["against_box"] == {}
    assert folder.case(dataclasses.replace(asked, against=UNCHANGED)).against == UNCHANGED


def test_what_was_never_measured_has_only_the_trace(folder, trace):
    key = folder.import_trace(Asked("own_kernel"), "mine.json", trace)
    case = folder.case(Asked("own_kernel", imported=key))
    assert not case.recorded
    assert "back to the prediction alone" in texts(imported_mark(case))


def test_of_many_recorded_timelines_that_of_the_scenario_is_meant(folder, tmp_path):
    """As in the files of this project."""
    line = folder.case(Asked("stages")).other.timeline
    params = dict(line.meta["params"])
    for number, stages in enumerate((params["stages"], params["stages"] + 1)):
        meta = {"params": params | {"stages": stages}, "technique": line.meta["technique"], "device": "NVIDIA H200"}
        save_timeline(tmp_path / "all.npz", f"run{number}", line.with_meta(**meta, total_s=0.25 + number))
    key = folder.import_trace(Asked("stages"), "all.npz", (tmp_path / "all.npz").read_bytes())
    assert folder.case(Asked("stages", imported=key)).other_numbers.total_s == 0.25


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty; expected"),
        (b"a few words", "truncated or not a timeline file"),
        (b"{}", 'expected an object with a list "traceEvents"'),
        (b'[{"ph": "X", "ts": "soon", "dur": 1}]', "traceEvents[0].ts is 'soon'"),
        (b"SQLite format 3\0", "no report of Nsight Systems"),
        (b"PK\x03\x04", "truncated or not a timeline file"),
        (b"\x1f\x8b", "truncated or not compressed by gzip"),
    ],
)
def test_a_bad_file_is_told_with_what_is_allowed(folder, content, told):
    """By its own name, not by that of a copy."""
    with pytest.raises(CaseError) as caught:
        folder.import_trace(Asked("stages"), "mine.json", content)
    message = str(caught.value)
    assert message.startswith("mine.json: ")
    assert told in message
    assert "Chrome JSON (.json, .json.gz)" in message
    assert "/tmp" not in message


def test_a_trace_of_other_parameters_is_refused(folder, tmp_path):
    line = folder.case(Asked("stages")).other.timeline
    path = tmp_path / "one.npz"
    save_timeline(path, "run", line.with_meta(params=dict(line.meta["params"]) | {"stages": 7}, device="NVIDIA H200"))
    with pytest.raises(CaseError, match="other parameters: stages=7"):
        folder.import_trace(Asked("stages"), "one.npz", path.read_bytes())


def test_files_are_bounded(folder, trace, monkeypatch):
    """In size and in number; what is not held any more is told."""
    first = folder.import_trace(Asked("stages"), "0.json", trace)
    for number in range(1, MOST_FILES + 1):
        folder.import_trace(Asked("stages"), f"{number}.json", trace)
    with pytest.raises(CaseError, match="drop its file on the page again"):
        folder.case(Asked("stages", imported=first))
    monkeypatch.setattr(imports, "MOST_BYTES", 100)
    with pytest.raises(CaseError, match=r"mine\.json: .*are read"):
        folder.import_trace(Asked("stages"), "mine.json", trace)


def test_random_bytes_never_raise_anything_else(folder, trace):
    """A page shows a sentence, whatever is dropped on it."""
    random = np.random.default_rng(7)
    for start in (b"", b"PK\x03\x04", b"SQLite format 3\0", b"[", trace[:400]):
        for _ in range(20):
            content = start + random.bytes(int(random.integers(0, 300)))
            with pytest.raises(CaseError) as caught:
                folder.import_trace(Asked("stages"), "any", content)
            assert "inside gpusim" not in caught.value.title


def sent(content):
    return "data:application/json;base64," + base64.b64encode(content).decode()


def test_what_a_browser_sends_is_read(source):
    held = {"name": "ring"}
    assert imported_after(source, held, "mine.json", sent(b"x")) == ("mine.json", "")
    assert imported_after(source, held, "mine.json", sent(b""))[1].startswith("mine.json: truncated")
    assert "did not arrive whole" in imported_after(source, held, None, "data:,%%%")[1]
    assert "choose a scenario" in imported_after(source, None, "mine.json", sent(b"x"))[1]


def test_a_message_can_be_closed_and_is_text():
    assert import_message() == []
    assert "<b>" in texts(import_message("<b>: no trace"))


def test_a_trace_goes_with_the_next_scenario_and_stays_with_a_change():
    held = {"name": "ring", "point": "own", "changes": [], "against": "measured", "imported": "k"}
    picked = {"scenario": "ring", "point": "own", "changes": {"list": []}, "against": "measured", "wrong": "",
              "stamp": {"changed": False}, "imported": {"key": "k", "at": 1}}  # fmt: skip
    assert wanted("imported", picked, held) is None
    assert wanted("imported", picked | {"imported": {"key": ""}}, held) == Asked("ring")
    assert wanted("changes", picked | {"changes": {"list": ["a=1"]}}, held) == Asked(
        "ring", changes=("a=1",), imported="k"
    )
    assert wanted("scenario", picked | {"scenario": "alone"}, held) == Asked("alone")
