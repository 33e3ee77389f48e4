"""The one module that predicts and reads recordings, on scenario files written by the tests."""

import os
import re
import threading
from dataclasses import asdict, replace
from importlib import resources

import pytest

from gpusim.dashboard.page.case import UNCHANGED, Asked, CaseError
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.errors import GpusimError
from gpusim.scenario import load, loads, techniques
from gpusim.validation.recording import TOTALS, TotalRow, Totals

GOOD = """
question: Does a second stage hide the load?
device: textbook
kernel:
  grid: 132
  tiles_per_cta: 12
  rings: {input: {stages: 2, bytes: 8 KiB}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    consumer: {warps: 4, per_tile: [{wait: input}, {compute: {ffma: 64, ilp: 4}}, {release: input}]}
"""
DEADLOCK = GOOD.replace(", {release: input}", "")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.yaml").write_text(GOOD)
    return tmp_path


def test_a_scenario_becomes_a_case_with_lanes_and_numbers(folder):
    case = ScenarioFolder(folder).case(Asked("good"))
    assert case.question == "Does a second stage hide the load?"
    assert len(case.predicted.timeline) > 20
    assert case.predicted_numbers.total_s == pytest.approx(case.predicted.timeline.total_s)
    assert case.other is None
    assert "prediction only" in [badge.text for badge in case.badges]


def test_the_list_holds_every_file_and_says_which_cannot_be_read(folder):
    (folder / "broken.yaml").write_text("question: [")
    (folder / "typo.yaml").write_text(GOOD.replace("tiles_per_cta", "tiles_per_ctas"))
    entries = {entry.name: entry for entry in ScenarioFolder(folder).entries()}
    assert not entries["good"].error
    assert entries["broken"].error
    assert "tiles_per_ctas" in entries["typo"].error


def test_a_changed_file_is_read_again(folder):
    source = ScenarioFolder(folder)
    before = source.case(Asked("good"))
    (folder / "good.yaml").write_text(GOOD.replace("stages: 2", "stages: 3"))
    assert len(source.case(Asked("good")).predicted.used_lanes) == len(before.predicted.used_lanes) + 1


def test_a_case_is_made_once(folder):
    source = ScenarioFolder(folder)
    found = []
    threads = [threading.Thread(target=lambda: found.append(source.case(Asked("good")))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(case) for case in found}) == 1


def test_a_device_that_was_calibrated_again_is_a_new_case(folder):
    """The scenario and its file are what they were; all that is kept of it is made anew."""
    device = folder / "profile" / "own.yaml"
    device.parent.mkdir()
    text = (resources.files("gpusim.hardware") / "profiles" / "textbook.yaml").read_text(encoding="utf-8")
    device.write_text(text, encoding="utf-8")
    swept = f"{GOOD}sweep: {{kernel.grid: [132, 264]}}\n"
    (folder / "good.yaml").write_text(swept.replace("device: textbook", f"device: {device}"))
    (folder / "both.yaml").write_text(f"{GOOD}sweep: {{device: [{device}]}}\n")
    source = ScenarioFolder(folder)

    def told():
        advice, sweeps = source.advice(Asked("good")), [source.sweep(Asked(name)) for name in ("good", "both")]
        totals = source.case(Asked("good")).predicted_numbers.total_s, advice.total_s
        return [*totals, *(sweep.rows[0].predicted_s for sweep in sweeps)], source.stamp("good")

    before, stamp = told()
    assert told() == (before, stamp)
    slower = re.sub(r"(hbm\.read_bandwidth: +\{ *value: +)[^,]+", r"\g<1>10 GB/s", text)
    assert slower != text
    device.write_text(slower, encoding="utf-8")
    os.utime(device, (2e9, 2e9))
    after, other = told()
    assert all(now > 2 * then for now, then in zip(after, before, strict=True))
    assert other != stamp


def test_a_recording_that_is_made_meanwhile_is_shown(folder, monkeypatch):
    """In the list of scenarios, in the case, and by the stamp that the page looks at."""
    found = dict(techniques())
    found["sync_tile"] = replace(found["sync_tile"], folder=folder / "sync_tile")
    for module in ("scenario.loader", "validation.cases", "scenario.technique"):
        monkeypatch.setattr(f"gpusim.{module}.techniques", lambda: found)
    text = "question: q\ndevice: textbook\nkernel: {technique: sync_tile}\n"
    (folder / "new.yaml").write_text(text)
    source = ScenarioFolder(folder)

    def told():
        (entry,) = (entry for entry in source.entries() if entry.name == "new")
        case = source.case(Asked("new"))
        return entry.recorded, case.recorded, case.gap, source.stamp("new")

    first = told()
    assert first[:3] == (0, False, "")
    assert told() == first
    params = asdict(loads(text).params)
    row = TotalRow(params, 1e-3, 1e-3, 1e-3, 0.0, 15, 1e9, 32, 0, 0, 1, "", "2026-01-01")
    Totals("sync_tile", {}, [row]).save(folder / "sync_tile" / "recorded" / "textbook" / TOTALS)
    second = told()
    assert second[:3] == (1, True, "")
    (folder / "sync_tile" / "known_gaps.yaml").write_text("- {params: {}, reason: made up}\n")
    assert told()[:3] == (1, True, "made up")
    assert len({first[3], second[3], told()[3]}) == 3


def test_a_file_that_goes_while_the_list_is_made_is_not_in_it(folder, monkeypatch):
    source = ScenarioFolder(folder)
    paths = {"good": folder / "good.yaml", "gone": folder / "gone.yaml"}
    monkeypatch.setattr(source, "_paths", lambda: paths)
    assert [entry.name for entry in source.entries()] == ["good"]
    assert source.stamp("gone") == ""


def test_advice_is_worked_out_once(folder):
    source = ScenarioFolder(folder)
    first = source.advice(Asked("good"))
    assert first.levers
    assert first.total_s == pytest.approx(source.case(Asked("good")).predicted_numbers.total_s)
    assert source.advice(Asked("good")) is first
    (folder / "good.yaml").write_text(GOOD.replace("stages: 2", "stages: 3"))
    assert source.advice(Asked("good")) is not first


def test_no_advice_for_what_cannot_be_shown(folder):
    (folder / "stuck.yaml").write_text(DEADLOCK)
    for name in ("nowhere", "stuck"):
        with pytest.raises(CaseError):
            ScenarioFolder(folder).advice(Asked(name))


@pytest.mark.parametrize("name", ["nowhere", "", "../good", "good.yaml", "/etc/passwd", "a\x00b"])
def test_only_scenarios_of_the_folder_can_be_named(folder, name):
    with pytest.raises(CaseError, match="no scenario called"):
        ScenarioFolder(folder).case(Asked(name))


def test_an_empty_folder_says_what_to_do(tmp_path):
    with pytest.raises(CaseError, match="another folder"):
        ScenarioFolder(tmp_path).case(Asked("any"))


def test_a_kernel_that_deadlocks_is_explained(folder):
    (folder / "stuck.yaml").write_text(DEADLOCK)
    with pytest.raises(CaseError) as caught:
        ScenarioFolder(folder).case(Asked("stuck"))
    assert "input" in str(caught.value)


def test_an_unknown_recorded_point_is_refused(folder):
    with pytest.raises(CaseError, match="recorded point"):
        ScenarioFolder(folder).case(Asked("good", "stages=99"))


def test_a_folder_that_does_not_exist_cannot_be_served(tmp_path):
    from gpusim.dashboard import serve

    with pytest.raises(GpusimError, match="no such folder"):
        serve(tmp_path / "gone", browser=False)


def test_a_port_in_use_is_an_error_a_user_can_read(folder):
    import socket

    from gpusim.dashboard import serve

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(GpusimError, match="--port"):
            serve(folder, port=taken.getsockname()[1], browser=False)


def test_notes_of_alike_sms_and_chips_read_as_words():
    from dataclasses import dataclass

    from gpusim.dashboard.page.facts import parameter_text, predicted_note
    from gpusim.timeline import TimelineBuilder

    classes = [{"lane": f"sm[{k}]", "sms": n} for k, n in ((0, 43), (43, 46), (89, 43))]
    line = TimelineBuilder().build(sm_classes=classes)
    assert predicted_note(line) == "SM 0, 43 and 89 stand for 43, 46 and 43 SMs alike"
    assert predicted_note(line.with_meta(sm_classes=classes[:1])) == "SM 0 stands for 43 SMs alike"

    @dataclass
    class Params:
        asynchronous: bool = True
        urgent: str = "none"
        warps: int = 1024

    assert parameter_text(Params, vars(Params())) == ("asynchronous", "urgent: none", "warps 1,024")
    assert parameter_text(Params, {"asynchronous": False}) == ("not asynchronous",)


CHANGE = "kernel.rings.input.stages=1"


def test_a_changed_scenario_stands_against_itself_without_the_changes(folder):
    source = ScenarioFolder(folder)
    case = source.case(Asked("good", changes=(CHANGE,)))
    assert case.against == UNCHANGED
    assert case.other.timeline is source.case(Asked("good")).predicted.timeline
    assert case.error > 0  # one stage is slower
    assert (case.predicted.title, case.other.title) == ("what if", "unchanged")
    assert "1 change" in [badge.text for badge in case.badges]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("kernel.rings.input.stages=0", "stages"),
        ("kernel.rings.input.stage=2", "unknown key"),
        ("kernel.grid=1,2", "one value"),
        ("nonsense", "path=value"),
        ("device=h300", "h300"),
        ("device.set.hbm.read_bandwidth=fast", "fast"),
    ],
)
def test_a_change_that_cannot_be_says_what_is_wrong(folder, change, words):
    source = ScenarioFolder(folder)
    for ask in (source.case, source.form, source.advice):
        with pytest.raises(CaseError, match=words):
            ask(Asked("good", changes=(change,)))


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        (("device.set.hbm.read_bandwidth=5 Hz",), ("device.set.hbm.read_bandwidth",)),
        (("device=h300",), ("device",)),
        (("kernel.rings.input.stages=0", "kernel.grid=0"), ("kernel.grid", "kernel.rings.input.stages")),
        (("kernel.roles.consumer.per_tile.1.compute.ffma=-1",), ("kernel.roles.consumer.per_tile.1.compute.ffma",)),
        (("kernel.grid=1,2",), ("kernel.grid",)),
        (("kernel.rings.input.stages=40",), ()),  # it does not fit, for which there are many fields to change
    ],
)
def test_an_error_names_the_fields_that_are_wrong(folder, changes, fields):
    """By the paths that the form has."""
    source = ScenarioFolder(folder)
    known = {one.path for one in source.form(Asked("good")).fields}
    with pytest.raises(CaseError) as caught:
        source.case(Asked("good", changes=changes))
    assert tuple(sorted(caught.value.fields)) == fields
    assert all(field in known for field in fields if not field.startswith("device.set."))


def test_a_changed_scenario_is_saved_as_a_file_that_says_where_it_comes_from(folder):
    source = ScenarioFolder(folder)
    asked = Asked("good", changes=(CHANGE,))
    source.save(asked, "mine")
    text = (folder / "mine.yaml").read_text()
    assert text.startswith(f"# Made from good with {CHANGE}.\n")
    assert source.case(Asked("mine")).predicted.timeline.total_s == source.case(asked).predicted.timeline.total_s
    assert "mine" in [entry.name for entry in source.entries()]


@pytest.mark.parametrize(
    ("change", "question"),
    [
        ('question="x\ny"', "x y"),
        ('question="x\u2028# y"', "x\u2028# y"),
        ('question="x\x85y"', "x y"),
        ("question=Zwölf?", "Zwölf?"),
    ],
)
def test_what_a_saved_file_was_made_with_stays_in_its_comment(folder, change, question):
    ScenarioFolder(folder).save(Asked("good", changes=(change,)), "mine")
    assert load(folder / "mine.yaml").question == question


def test_a_file_that_another_one_would_hide_is_not_written(folder):
    (folder / "other.yml").write_text(GOOD)
    source = ScenarioFolder(folder)
    with pytest.raises(CaseError, match=r"other\.yaml is there already"):
        source.save(Asked("good", changes=(CHANGE,)), "other")
    assert not (folder / "other.yaml").exists()


def test_a_file_that_cannot_be_written_leaves_nothing_behind(folder, monkeypatch):
    """Whoever looks at the folder in the meantime finds no half of it either."""

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gpusim.files.Path.replace", refuse)
    before = sorted(folder.iterdir())
    with pytest.raises(CaseError, match="No space left"):
        ScenarioFolder(folder).save(Asked("good"), "mine")
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("name", ["good", "", "../out", "a/b", ".hidden", "x" * 90])
def test_nothing_is_overwritten_and_nothing_leaves_the_folder(folder, name):
    def files():
        # Links to nothing that other tests have left beside the folder have no bytes.
        return {path: path.read_bytes() if path.exists() else None for path in folder.parent.rglob("*.yaml")}

    before = files()
    with pytest.raises(CaseError):
        ScenarioFolder(folder).save(Asked("good"), name)
    assert files() == before


def test_a_stamp_changes_with_its_file(folder):
    source = ScenarioFolder(folder)
    before = source.stamp("good")
    os.utime(folder / "good.yaml", (1e9, 1e9))
    assert source.stamp("good") not in (before, "")
    assert source.stamp("nowhere") == source.stamp("../good") == ""
