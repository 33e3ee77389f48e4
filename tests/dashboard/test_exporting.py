"""Files for other tools: what is in them, and that the page has the way to them."""

import csv
import io
import json
from pathlib import Path

import pytest

from gpusim.dashboard.figure.view import View
from gpusim.dashboard.page.case import Asked
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.dashboard.page.exporting import export_menu, exported

FOLDER = Path(__file__).parents[2] / "scenarios"


@pytest.fixture(scope="module")
def case():
    return ScenarioFolder(FOLDER).case(Asked("stages"))


def test_both_sides_are_in_the_file_for_perfetto(case):
    """Each is a process, with all of its intervals."""
    name, text = exported(case, "export-json")
    events = json.loads(text)["traceEvents"]
    assert name == "stages.json"
    assert [event["args"]["name"] for event in events if event["name"] == "process_name"] == ["predicted", "measured"]
    drawn = sum(event["ph"] == "X" for event in events)
    assert drawn == len(case.predicted.timeline) + len(case.other.timeline)


def test_a_what_if_is_told_from_what_it_stands_against():
    """By what the page calls the sides."""
    changed = ScenarioFolder(FOLDER).case(Asked("stages", changes=("kernel.params.grid=100",)))
    name, text = exported(changed, "export-csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert name == "stages.csv"
    assert {row["timeline"] for row in rows} == {"what if", "unchanged"}


def test_every_entry_of_the_menu_writes_something(case):
    ids = [part.id for part in export_menu()._traverse() if str(getattr(part, "id", "")).startswith("export-")]
    drawn_by_the_browser = {"export-png", "export-svg"}
    assert set(ids) == drawn_by_the_browser | {"export-html", "export-json", "export-csv"}
    assert all(exported(case, entry)[1] for entry in ids if entry not in drawn_by_the_browser)


def test_a_page_holds_what_is_shown_and_all_that_it_needs(case):
    """It opens without a network: plotly itself is in it, and nothing is fetched."""
    name, text = exported(case, "export-html", View(window_us=(1.0, 9.0)))
    assert name == "stages.html"
    assert len(text) > 3_000_000
    assert "<script src=" not in text
    assert '"range":[1.0,9.0]' in text
    assert case.question in text
