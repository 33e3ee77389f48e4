"""What typing in the scenario's text makes of it: changes where they say it all, else a text of its own."""

import pytest

from gpusim.dashboard.page.altered import BY_TEXT, NOTHING, opening
from gpusim.dashboard.page.case import Asked
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.dashboard.page.typed_text import STEP_MS, after_text

OWN = Asked("mine")


@pytest.fixture
def mine(tmp_path):
    """A folder with one scenario."""
    (tmp_path / "mine.yaml").write_text(
        "question: Is it quick?  # mine\ndevice: h200_sxm\nkernel:\n  technique: tma_warp_specialized\n"
        "  params: {stages: 3, tile_bytes: 16 KiB}  # the ring\n"
    )
    return ScenarioFolder(tmp_path)


def typing(source, text, known=NOTHING, at=0, **more):
    return after_text(source, OWN, {"of": "", "text": text, "number": known["number"] + 1, "at": at}, known, **more)


def test_another_value_is_a_change_as_that_of_the_form(mine):
    text = mine.text(OWN).text
    after = typing(mine, text.replace("stages: 3", "stages: 4"))
    assert (after["list"], after["text"], after["by"]) == (["kernel.params.stages=4"], None, BY_TEXT)
    assert after["history"] == [{"list": [], "text": None}]
    back = typing(mine, text, after)
    assert (back["list"], back["text"]) == ([], None)


def test_a_comment_makes_a_text_of_its_own_to_which_changes_come(mine):
    text = mine.text(OWN).text.replace("# mine", "# not yours")
    after = typing(mine, text)
    assert (after["list"], after["text"]) == ([], text)
    shown = mine.text(Asked("mine", changes=("kernel.params.stages=5",), text=text))
    assert "# not yours" in shown.text
    assert "stages: 5," in shown.text
    assert shown.changed == (1, 5)


def test_a_value_typed_into_an_edited_text_is_a_change_of_it(mine):
    text = "# mine\n" + mine.text(OWN).text
    after = typing(mine, text.replace("stages: 3", "stages: 5"), typing(mine, text))
    assert (after["list"], after["text"]) == (["kernel.params.stages=5"], text)
    again = typing(mine, text.replace("stages: 3", "stages: 6"), after)
    assert (again["list"], again["text"]) == (["kernel.params.stages=6"], text)


def test_changes_of_the_device_stay_beside_those_that_are_typed(mine):
    known = opening(["device.set.hbm.read_bandwidth=8 TB/s"])
    shown = mine.text(Asked("mine", changes=tuple(known["list"]))).text
    after = typing(mine, shown.replace("stages: 3", "stages: 4"), known)
    assert after["list"] == ["device.set.hbm.read_bandwidth=8 TB/s", "kernel.params.stages=4"]
    assert after["text"] is None


@pytest.mark.parametrize("text", ["", "a: [", "kernel: {}"])
def test_what_is_wrong_is_kept_as_it_is(mine, text):
    after = typing(mine, text)
    assert (after["list"], after["text"]) == ([], text)


def test_what_was_wrong_is_nothing_to_go_back_to(mine):
    text = mine.text(OWN).text
    wrong = typing(mine, text.replace("stages", "stags"))
    after = typing(mine, text.replace("stages: 3", "stages: 4"), wrong, at=10 * STEP_MS, wrong=True)
    assert after["history"] == [{"list": [], "text": None}]


def test_what_is_typed_without_a_pause_is_one_step(mine):
    text = mine.text(OWN).text
    known = NOTHING
    for count, at in enumerate((0, STEP_MS - 1, 2 * STEP_MS - 2, 4 * STEP_MS)):
        known = typing(mine, f"# {count}\n{text}", known, at=at)
    assert [one["text"] and one["text"][:3] for one in known["history"]] == [None, "# 2"]


def test_what_changes_nothing_is_known_all_the_same(mine):
    """The page waits for an answer to each edit."""
    after = typing(mine, mine.text(OWN).text)
    assert after == {**NOTHING, "number": 1}


def test_a_mistake_in_the_file_can_be_mended_in_the_text(mine):
    path = mine.folder / "mine.yaml"
    path.write_text(path.read_text().replace("stages: 3", "stages: -1"))
    text = mine.text(OWN).text
    assert "stages: -1" in text
    after = typing(mine, text.replace("stages: -1", "stages: 4"))
    assert (after["list"], after["text"]) == ([], text.replace("stages: -1", "stages: 4"))
    assert mine.case(Asked("mine", text=after["text"]), quick=True).altered
