"""The one module that predicts and reads recordings, on scenario files written by the tests."""

import os
import threading

import pytest

from gpusim.dashboard.case import UNCHANGED, Asked, CaseError
from gpusim.dashboard.data import ScenarioFolder
from gpusim.errors import GpusimError

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
    with pytest.raises(CaseError, match="--scenarios"):
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

    from gpusim.dashboard.facts import parameter_text, predicted_note
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


def test_a_changed_scenario_is_saved_as_a_file_that_says_where_it_comes_from(folder):
    source = ScenarioFolder(folder)
    asked = Asked("good", changes=(CHANGE,))
    source.save(asked, "mine")
    text = (folder / "mine.yaml").read_text()
    assert text.startswith(f"# Made from good with {CHANGE}.\n")
    assert source.case(Asked("mine")).predicted.timeline.total_s == source.case(asked).predicted.timeline.total_s
    assert "mine" in [entry.name for entry in source.entries()]


@pytest.mark.parametrize("name", ["good", "", "../out", "a/b", ".hidden", "x" * 90])
def test_nothing_is_overwritten_and_nothing_leaves_the_folder(folder, name):
    before = {path: path.read_bytes() for path in folder.parent.rglob("*.yaml")}
    with pytest.raises(CaseError):
        ScenarioFolder(folder).save(Asked("good"), name)
    assert {path: path.read_bytes() for path in folder.parent.rglob("*.yaml")} == before


def test_a_stamp_changes_with_its_file(folder):
    source = ScenarioFolder(folder)
    before = source.stamp("good")
    os.utime(folder / "good.yaml", (1e9, 1e9))
    assert source.stamp("good") not in (before, "")
    assert source.stamp("nowhere") == source.stamp("../good") == ""
