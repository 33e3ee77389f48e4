"""Every scenario that ships with the project, from its file to the whole page."""

from pathlib import Path

import pytest

from gpusim.dashboard.page.address import view_of
from gpusim.dashboard.page.case import Asked
from gpusim.dashboard.page.content import draw, show_case
from gpusim.dashboard.page.data import ScenarioFolder

FOLDER = Path(__file__).parents[2] / "scenarios"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.fixture(scope="module")
def shipped():
    return ScenarioFolder(FOLDER)


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_scenario_shows_its_case_and_every_panel(shipped, name):
    shown = show_case(shipped, Asked(name))
    assert shown["case"] is not None
    case = shipped.case(Asked(name))
    # The line is cut where there is no room for it; all of it stands in its title.
    assert all(fact in shown["facts"].title for fact in case.facts)
    for mode in ("stacked", "overlay", "difference"):
        drawn = draw(case, name, view_of(name, {"mode": mode, "viewport": {"width": 1100, "height": 700, "room": 700}}))
        assert drawn["figure"]["data"]
        assert drawn["gutter"]
