"""From what is picked and typed to what is asked for, and the list of changes."""

import pytest
from dash import no_update

from gpusim.dashboard.page.altered import BY_FIELD, BY_TEXT, NOTHING, opening
from gpusim.dashboard.page.asking import meant, shown_after, wanted
from gpusim.dashboard.page.case import UNCHANGED, Asked
from gpusim.dashboard.page.changing import changed_list, changes_after, happened
from gpusim.dashboard.page.content import show_case, show_form
from gpusim.dashboard.page.form import Field, Form, changes_of
from gpusim.dashboard.page.panel import DROP, FIELD, THE_TEXT
from gpusim.dashboard.page.sweep_tables import PICK

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
    assert wanted("scenario", picked(scenario="alone", changes=opening(["a=1"])), held) == Asked("alone")


def test_what_is_shown_already_is_not_asked_for_again():
    for trigger in ("point", "changes", "against", "stamp"):
        assert wanted(trigger, picked(), HELD) is None


def test_changes_are_of_the_point_that_is_shown():
    held = HELD | {"point": "s4"}
    assert wanted("changes", picked(changes=opening(["a=1"])), held) == Asked("ring", "s4", ("a=1",))


def test_taking_back_what_was_wrong_is_shown():
    assert wanted("changes", picked(wrong="99 is not possible"), HELD) == Asked("ring")


def test_the_other_side_can_be_chosen():
    held = HELD | {"changes": ["a=1"]}
    asked = wanted("against", picked(against=UNCHANGED, changes=opening(["a=1"])), held)
    assert asked == Asked("ring", "own", ("a=1",), UNCHANGED)


@pytest.mark.parametrize("held", [HELD, None])
def test_a_saved_file_is_shown_again_with_the_changes_even_after_a_message(held):
    stamp = {"name": "ring", "stamp": "2", "changed": True}
    asked = wanted("stamp", picked(stamp=stamp, changes=opening(["a=1"])), held)
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
    assert after == {**NOTHING, "list": [f"{STAGES}=4"], "history": [{"list": [], "text": None}], "by": BY_FIELD}


def test_inputs_that_say_what_is_known_change_nothing():
    assert changed_list({"type": FIELD, "path": STAGES}, NOTHING, (), (None, None)) is None


def test_undo_goes_back_one_by_one():
    history = [{"list": [], "text": None}, {"list": ["a=1"], "text": "a: 0"}]
    known = {**NOTHING, "list": ["a=2"], "history": history, "by": BY_FIELD}
    once = changed_list("undo", known, (), (None, None))
    assert once == {**NOTHING, "list": ["a=1"], "text": "a: 0", "history": history[:1]}
    twice = changed_list("undo", once, (), (None, None))
    assert twice == NOTHING
    assert changed_list("undo", twice, (), (None, None)) is None


def test_one_change_or_all_can_be_taken_back():
    known = {**opening(["a=2", "b=3"]), "text": "a: 0"}
    one = changed_list({"type": DROP, "change": "a=2"}, known, (), (None, None))
    assert (one["list"], one["text"]) == (["b=3"], "a: 0")
    text = changed_list({"type": DROP, "change": THE_TEXT}, known, (), (None, None))
    assert (text["list"], text["text"]) == (["a=2", "b=3"], None)
    every = changed_list("reset", known, (), (None, None))
    assert (every["list"], every["text"]) == ([], None)


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


def changed(source, trigger, value=None, known=NOTHING, typed=None, quantity=(None, None), name="ring"):
    """The list of changes after ``trigger`` of the page, None where nothing has changed."""
    after = changes_after(source, Asked(name), trigger, value, known, typed or {}, quantity)
    return None if after is None else after["list"]


@pytest.mark.parametrize("value", [None, {}, {"points": []}, {"points": [{}]}, {"points": [{"customdata": None}]}])
def test_a_click_on_no_point_of_a_sweep_changes_nothing(source, value):
    """So a figure that is drawn anew says, and a click beside the points."""
    assert changed(source, "sweep-graph", value) is None


def test_a_click_on_a_point_of_a_sweep_takes_over_its_changes(source):
    click = {"points": [{"customdata": f"{STAGES}=2\nkernel.grid=4"}]}
    known = opening([f"{STAGES}=1", "device=b200"])
    assert changed(source, "sweep-graph", click, known) == ["device=b200", f"{STAGES}=2", "kernel.grid=4"]


@pytest.mark.parametrize(
    "trigger",
    ["pressed", None, {"type": FIELD, "path": STAGES}],
)
def test_what_has_just_been_put_on_the_page_changes_nothing(source, trigger):
    """Fields say so by the values that they had."""
    known = opening(["a=1"])
    assert changed(source, trigger, None, known, {STAGES: 3}) is None


def test_fields_keep_the_changes_that_are_none_of_theirs(source):
    known = opening(["device.set.sm.clock=1 GHz", f"{STAGES}=5"])
    after = changed(source, {"type": FIELD, "path": STAGES}, 7, known, {STAGES: 7})
    assert after == [f"{STAGES}=7", "device.set.sm.clock=1 GHz"]


def test_fields_of_what_cannot_be_shown_change_nothing(source):
    assert changed(source, {"type": FIELD, "path": STAGES}, 7, NOTHING, {STAGES: 7}, name="bad") is None


def test_a_change_that_cannot_be_is_told_with_its_field_and_what_is_shown_stays(source):
    shown = shown_after(source, "changes", picked(changes={**opening([f"{STAGES}=99"]), "by": BY_FIELD}), HELD)
    assert shown["wrong"].startswith(f"{STAGES}: 99 is not possible")
    assert shown["wrong_fields"] == [STAGES]
    kept = {key for key, value in shown.items() if value is no_update}
    assert kept == set(shown) - {"wrong", "wrong_fields", "chips", "text"}


def test_a_change_that_can_be_is_shown_and_no_field_is_wrong_any_more(source):
    shown = shown_after(source, "changes", picked(changes={**opening([f"{STAGES}=5"]), "by": BY_FIELD}), HELD)
    assert (shown["wrong"], shown["wrong_fields"]) == ("", [])
    assert shown["case"]["changes"] == [f"{STAGES}=5"]
    assert shown["fields"] is no_update  # somebody is typing in them


def test_another_scenario_takes_back_the_changes(source):
    shown = shown_after(source, "scenario", picked(scenario="alone", changes=opening([f"{STAGES}=5"])), HELD)
    assert shown["changes"] == NOTHING
    assert shown["case"]["name"] == "alone"
    assert shown_after(source, "stamp", picked(), HELD) is None


def test_a_press_counts_though_fields_have_just_been_put_there(source):
    """Those that have arrived meanwhile are told in front of the row or chip that was clicked."""
    ids = {f"{n}.value": {"type": FIELD, "path": f"field{n}"} for n in range(2)} | {"pressed.data": "pressed"}
    pick, drop = {"type": PICK, "changes": f"{STAGES}=2"}, {"type": DROP, "change": "a=1"}
    told = [{"prop_id": name, "value": 0} for name in list(ids)[:2]] + [{"prop_id": "pressed.data", "value": pick}]
    assert happened(told, ids) == ("pressed", pick)
    assert happened(told[:2], ids) == (ids["0.value"], 0)
    assert happened([{"prop_id": ".", "value": None}], {}) == (None, None)
    known = opening(["a=1"])
    assert changed(source, "pressed", pick, known) == ["a=1", f"{STAGES}=2"]
    assert changed(source, "pressed", drop, known) == []


def test_an_edited_text_is_asked_for_with_the_changes_to_it():
    made = {**opening(["a=1"]), "text": "a: 0"}
    assert wanted("changes", picked(changes=made), HELD) == Asked("ring", changes=("a=1",), text="a: 0")
    assert wanted("changes", picked(changes=made), HELD | {"changes": ["a=1"], "text": "a: 0"}) is None
    stamp = {"name": "ring", "stamp": "2", "changed": True}
    assert wanted("stamp", picked(stamp=stamp, changes=made), HELD).text == "a: 0"


def test_another_recorded_point_is_a_step_that_can_be_undone(source):
    made = {**opening([f"{STAGES}=5"]), "text": "# stages"}
    after = shown_after(source, "point", picked(point="s4", changes=made), HELD)["changes"]
    assert (after["list"], after["text"]) == ([], None)
    assert after["history"] == [{"list": [f"{STAGES}=5"], "text": "# stages"}]


def test_texts_are_told_apart_and_from_their_file():
    keys = [Asked("ring", text=text).key for text in (None, "", "a", "b")]
    assert len(set(keys)) == 4
    assert [Asked("ring", text=text).altered for text in (None, "")] == [False, True]


def test_a_text_that_comes_from_the_field_is_not_put_there_again(source):
    """Marks alone: whoever is typing keeps the cursor. What undo brings back is put there."""
    typed = {**opening([f"{STAGES}=5"]), "by": BY_TEXT, "number": 7}
    shown = shown_after(source, "changes", picked(changes=typed), HELD)["text"]
    assert shown == {"of": "ring|own", "number": 7, "text": None, "changed": [1], "wrong": []}
    back = shown_after(source, "changes", picked(changes={**typed, "by": ""}), HELD)["text"]
    assert back["text"] == "kernel: {params: {stages: 5}} # ring\n"


def test_a_wrong_text_is_told_with_its_lines_and_what_is_shown_stays(source):
    typed = {**NOTHING, "text": "kernel: {}", "by": BY_TEXT, "number": 1}
    shown = shown_after(source, "changes", picked(changes=typed), HELD)
    assert shown["wrong"] == "ring.yaml:1:1: kernel.params.stages: is missing"
    assert shown["text"]["wrong"] == [1]
    assert shown["figure"] is no_update
    assert shown["case"] is no_update


def test_fields_are_put_up_again_only_where_they_say_something_else(source):
    comment = {**NOTHING, "text": "# stages", "by": BY_TEXT}
    assert shown_after(source, "changes", picked(changes=comment), HELD)["fields"] is no_update
    other = {**opening([f"{STAGES}=5"]), "by": BY_TEXT}
    assert shown_after(source, "changes", picked(changes=other), HELD)["fields"] is not no_update
    # A field that says what cannot be is none of what is shown.
    mended = shown_after(
        source, "changes", picked(changes={**NOTHING, "by": BY_TEXT}, wrong="99 is not possible"), HELD
    )
    assert mended["fields"] is not no_update


def test_a_file_that_changes_under_an_edited_text_is_told_until_it_is_loaded(source):
    edited = {**NOTHING, "text": "# stages"}
    saved, gone = ({"name": "ring", "stamp": stamp, "changed": True} for stamp in ("2", ""))
    told = shown_after(source, "stamp", picked(changes=edited, stamp=saved), HELD)
    assert "has changed on the disk" in told["note"][0]
    assert told["text"]["text"] == "# stages"
    assert "gone" in shown_after(source, "stamp", picked(changes=edited, stamp=gone), HELD)["note"][0]
    assert shown_after(source, "changes", picked(changes={**edited, "text": "# stages!"}), HELD)["note"] is no_update
    assert shown_after(source, "changes", picked(), HELD | {"text": "# stages"})["note"] == []


def test_a_field_keeps_how_its_change_was_written(source):
    """What the fields say is compared with what they said: nobody has typed there."""
    known = {**opening([f"{STAGES}=05"]), "by": BY_TEXT}
    form = Form((Field(STAGES, "stages", "5", "3"),))
    assert changes_of(form.fields, {STAGES: 5}, known["list"]) == (f"{STAGES}=05",)
    assert changes_of(form.fields, {STAGES: 3}, known["list"]) == ()
    assert changes_of(form.fields, {STAGES: 4}, known["list"]) == (f"{STAGES}=4",)


def test_an_edited_text_is_a_change_of_its_own_among_the_others(source):
    chips = show_form(source, Asked("ring", changes=(f"{STAGES}=5",), text="# stages\n# more\n"))["chips"]
    assert [chip.children[0] for chip in chips] == ["text edited, 2 lines", f"{STAGES}=5"]
    assert getattr(chips[0].children[1], "data-drop") == THE_TEXT
