"""The state of a what-if: what it is made of, and the way back."""

from gpusim.dashboard.page.altered import BY_TEXT, MOST_LETTERS, MOST_STEPS, NOTHING, opening, stepped, undone


def test_a_step_is_remembered_with_its_text():
    first = stepped(NOTHING, ["a=1"], None)
    second = stepped(first, [], "text", BY_TEXT)
    assert second["history"] == [{"list": [], "text": None}, {"list": ["a=1"], "text": None}]
    assert (second["list"], second["text"], second["by"]) == ([], "text", BY_TEXT)
    back = undone(second)
    assert (back["list"], back["text"], back["by"]) == (["a=1"], None, "")
    assert undone(undone(back)) is None


def test_what_is_the_same_is_no_step():
    assert stepped(opening(["a=1"]), ["a=1"], None) is None


def test_old_steps_and_long_ones_are_forgotten():
    known = NOTHING
    for count in range(MOST_STEPS + 9):
        known = stepped(known, [f"a={count}"], None)
    assert len(known["history"]) == MOST_STEPS
    long = stepped(stepped(known, [], "x" * (MOST_LETTERS + 1)), [], "y")
    assert long["history"] == []
