"""A what-if is shown before its speed-up is known, which follows; no question is answered twice."""

from pathlib import Path

import pytest

from gpusim.dashboard.page.altered import opening
from gpusim.dashboard.page.asking import shown_after
from gpusim.dashboard.page.case import Asked
from gpusim.dashboard.page.content import DRAWN, show_cards, show_drawn
from gpusim.dashboard.page.data import ScenarioFolder

FOLDER = Path(__file__).parents[2] / "scenarios"
VIEWPORT = {"viewport": {"width": 1100, "height": 560, "room": 560}}


@pytest.fixture(scope="module")
def folder():
    return ScenarioFolder(FOLDER)


def test_a_quick_case_has_all_but_the_speed_up(folder):
    asked = Asked("stages", changes=("kernel.params.tile_bytes=8 KiB",))
    quick = folder.case(asked, quick=True)
    assert (quick.baseline, quick.predicted_numbers.speedup) == ("one stage", None)
    cards = show_cards(folder, asked)
    full = folder.case(asked)
    assert full.predicted_numbers.speedup > 1
    assert full.predicted is quick.predicted
    assert len(cards) > 5
    assert show_cards(folder, asked) == []  # they are shown already


def test_a_baseline_that_is_known_is_not_waited_for(folder):
    """Scenarios that differ in their stages have the same."""
    folder.case(Asked("stages"))
    changed = folder.case(Asked("stages", changes=("kernel.params.stages=5",)), quick=True)
    assert changed.predicted_numbers.speedup > 1


def test_what_cannot_run_without_overlap_has_no_speed_up(folder):
    case = folder.case(Asked("own_requests"))
    assert bool(case.baseline) == (case.predicted_numbers.speedup is not None)


def test_the_timelines_come_with_the_answer(source):
    """Once the page has told how much room they have."""
    picked = {"scenario": "ring", "point": "own", "against": "measured", "wrong": "", "imported": None,
              "changes": opening(["kernel.params.stages=5"]), "stamp": {"changed": False}}  # fmt: skip
    held = {"name": "ring", "point": "own", "changes": [], "against": "measured", "key": "ring|own|measured"}
    shown = shown_after(source, "changes", picked, held, VIEWPORT)
    assert shown["figure"]["layout"]["meta"]["case"] == shown["case"]["key"]
    assert set(DRAWN) <= set(shown)
    assert show_drawn(source, held, {}) == {}
    assert show_drawn(source, None, VIEWPORT) == {}
