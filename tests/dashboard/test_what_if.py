"""From what is picked and typed to what is asked for, and the list of changes."""

import pytest

from gpusim.dashboard.asking import meant, wanted
from gpusim.dashboard.case import UNCHANGED, Asked
from gpusim.dashboard.changing import NOTHING, changed_list
from gpusim.dashboard.content import show_case, show_form
from gpusim.dashboard.panel import DROP, FIELD

STAGES = "kernel.params.stages"
HELD = {"name": "ring", "point": "own", "changes": [], "against": "measured"}


def picked(**more):
    """What the page's controls hold, nothing of it new."""
    return {
        "scenario": "ring", "point": "own", "changes": NOTHING, "against": "measured", "wrong": "",
        "stamp": {"name": "ring", "stamp": "1", "changed": False},
    } | more  # fmt: skip


def test_another_scenario_begins_without_point_and_changes():
    held = HELD | {"changes": ["a=1"]}
    assert wanted("scenario", picked(scenario="alone", changes={"list": ["a=1"]}), held) == Asked("alone")


def test_what_is_shown_already_is_not_asked_for_again():
    for trigger in ("point", "changes", "against", "stamp"):
        assert wanted(trigger, picked(), HELD) is None


def test_changes_are_of_the_point_that_is_shown():
    held = HELD | {"point": "s4"}
    assert wanted("changes", picked(changes={"list": ["a=1"]}), held) == Asked("ring", "s4", ("a=1",))


def test_taking_back_what_was_wrong_is_shown():
    assert wanted("changes", picked(wrong="99 is not possible"), HELD) == Asked("ring")


def test_the_other_side_can_be_chosen():
    held = HELD | {"changes": ["a=1"]}
    asked = wanted("against", picked(against=UNCHANGED, changes={"list": ["a=1"]}), held)
    assert asked == Asked("ring", "own", ("a=1",), UNCHANGED)


@pytest.mark.parametrize("held", [HELD, None])
def test_a_saved_file_is_shown_again_with_the_changes_even_after_a_message(held):
    stamp = {"name": "ring", "stamp": "2", "changed": True}
    asked = wanted("stamp", picked(stamp=stamp, changes={"list": ["a=1"]}), held)
    assert asked == Asked("ring", "own", ("a=1",))


@pytest.mark.parametrize("trigger", ["stamp", "point", "changes", "against"])
def test_a_chosen_scenario_that_is_not_shown_yet_comes_first(trigger):
    """The clock asks in between, and of two questions under way the page takes the later answer only."""
    assert meant(trigger, picked(scenario="alone"), HELD) == "scenario"
    assert meant(trigger, picked(), HELD) == trigger
    assert meant(trigger, picked(scenario=None), HELD) == trigger


def test_behind_a_message_the_clock_tells_a_new_name_from_a_saved_file():
    """No scenario is held then."""
    assert meant("stamp", picked(scenario="alone"), None) == "scenario"
    assert meant("stamp", picked(stamp={"name": "ring", "stamp": "2", "changed": True}), None) == "stamp"
    assert meant("changes", picked(), None) == "changes"


def test_no_scenario_is_nothing_to_show():
    assert wanted("scenario", picked(scenario=None), None) is None


def test_fields_make_a_list_and_remember_the_one_before():
    after = changed_list({"type": FIELD, "path": STAGES}, NOTHING, (f"{STAGES}=4",), (None, None))
    assert after == {"list": [f"{STAGES}=4"], "history": [[]], "typed": True}


def test_inputs_that_say_what_is_known_change_nothing():
    assert changed_list({"type": FIELD, "path": STAGES}, NOTHING, (), (None, None)) is None


def test_undo_goes_back_one_by_one():
    known = {"list": ["a=2"], "history": [[], ["a=1"]], "typed": True}
    once = changed_list("undo", known, (), (None, None))
    assert once == {"list": ["a=1"], "history": [[]], "typed": False}
    twice = changed_list("undo", once, (), (None, None))
    assert twice == {"list": [], "history": [], "typed": False}
    assert changed_list("undo", twice, (), (None, None)) is None


def test_one_change_or_all_can_be_taken_back():
    known = {"list": ["a=2", "b=3"], "history": [], "typed": True}
    assert changed_list({"type": DROP, "change": "a=2"}, known, (), (None, None))["list"] == ["b=3"]
    assert changed_list("reset", known, (), (None, None))["list"] == []


def test_a_quantity_of_the_device_is_set_once():
    quantity = "hbm.read_bandwidth"
    first = changed_list("quantity-value", NOTHING, (), (quantity, " 8 TB/s "))
    assert first["list"] == ["device.set.hbm.read_bandwidth=8 TB/s"]
    assert changed_list("quantity-value", first, (), (quantity, "9 TB/s"))["list"] == [
        "device.set.hbm.read_bandwidth=9 TB/s"
    ]
    assert changed_list("quantity-value", first, (), (quantity, "")) is None
    assert changed_list("quantity-value", first, (), (None, "9")) is None


def test_a_changed_scenario_stands_against_itself_unchanged(source):
    asked = Asked("ring", changes=(f"{STAGES}=5",))
    shown = show_case(source, asked)
    assert shown["case"]["against"] == UNCHANGED
    assert shown["case"]["key"] == f"ring|own|{STAGES}=5|unchanged"
    titles = [card.children[0].children for card in shown["cards"]]
    assert titles[:2] == ["What if", "Unchanged"]


def test_the_panel_shows_fields_changes_and_command(source):
    shown = show_form(source, Asked("ring", changes=(f"{STAGES}=5",)))
    assert len(shown["fields"]) == 1
    assert shown["command"] == "gpusim run ring.yaml"
    assert len(shown["chips"]) == 1


def test_a_scenario_that_cannot_be_read_has_an_empty_panel(source):
    assert show_form(source, Asked("bad"))["fields"] == []
