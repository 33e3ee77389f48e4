"""The accuracy page: what is chosen, in which order, and where it leads."""

import math

import pytest
from dash.exceptions import PreventUpdate
from flask import Flask
from page_texts import texts

from gpusim.dashboard.page.case import Asked
from gpusim.dashboard.pages.accuracy import pointed, register_accuracy
from gpusim.dashboard.pages.accuracy_figure import accuracy_figure
from gpusim.dashboard.pages.accuracy_rows import Wanted, chosen, known_cases, sorted_cases, wanted_of
from gpusim.dashboard.pages.accuracy_tables import case_table, summary_cards, technique_table, turned
from gpusim.errors import RecordingError
from gpusim.timeline import TimelineBuilder
from gpusim.validation import DEFAULT_BAND, Comparison, MetricError, RecordedCase, accuracy


def case(technique, error, device="d1", hidden=None, **params):
    """Measured in 1 ms."""
    sides = (TimelineBuilder().build(total_s=total) for total in (1e-3 * (1 + error), 1e-3))
    metrics = [MetricError("total_s", 1e-3 * (1 + error), 1e-3, error)]
    if hidden is not None:
        metrics.append(MetricError("hidden_fraction", 0.5 + hidden, 0.5, hidden))
    comparison = Comparison(*sides, tuple(metrics), (), (), math.nan, DEFAULT_BAND)
    return RecordedCase(technique, device, params, comparison)


CASES = (
    case("ring", 0.01, stages=1), case("ring", -0.2, stages=2, hidden=-0.03), case("ring", 0.07, stages=20),
    case("tiles", -0.06, device="d2", warps=2),
)  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (Wanted(), [0, 1, 2, 3]),
        (Wanted(technique="ring"), [0, 1, 2]),
        (Wanted(device="d2"), [3]),
        (Wanted(beyond="±5 %"), [1, 2, 3]),
        (Wanted(beyond="±10 %"), [1]),
        (Wanted(words="stages=2 ring"), [1]),
        (Wanted(words="stages"), [0, 1, 2]),
        (Wanted(words="nothing of the kind"), []),
    ],
)
def test_filters_leave_what_meets_all_of_them(wanted, numbers):
    assert chosen(CASES, wanted) == numbers


def test_the_worst_come_first_and_a_column_can_be_turned():
    assert sorted_cases(CASES, range(4), Wanted()) == [1, 2, 3, 0]
    assert sorted_cases(CASES, range(4), Wanted(down=False)) == [0, 3, 2, 1]
    assert sorted_cases(CASES, range(4), Wanted(by="hidden"))[0] == 1
    assert turned(Wanted(), "error") == {"by": "error", "down": False}
    assert turned(Wanted(), "measured") == {"by": "measured", "down": True}


def test_an_address_is_read_and_nonsense_is_dropped():
    assert wanted_of("technique=ring&beyond=%C2%B15%20%25&by=measured&order=up") == Wanted(
        "ring", beyond="±5 %", by="measured", down=False
    )
    assert wanted_of("beyond=much&by=luck&order=?") == Wanted()
    assert wanted_of("") == Wanted()


@pytest.mark.parametrize("view", ["predicted", "error"])
def test_every_case_is_one_point_in_the_class_of_its_error(view):
    figure = accuracy_figure(CASES, range(4), view, "light")
    points = {trace["name"]: trace["customdata"] for trace in figure["data"] if trace["mode"] == "markers"}
    assert points == {"within ±5 % (1)": [0], "within ±10 % (2)": [2, 3], "beyond (1)": [1]}
    low, high = figure["layout"]["yaxis"]["range"]
    for trace in figure["data"]:
        if trace["mode"] == "markers":
            assert all(low <= (math.log10(y) if view == "predicted" else y) <= high for y in trace["y"])


def test_a_figure_without_cases_can_be_drawn():
    for view in ("predicted", "error"):
        assert accuracy_figure(CASES, [], view, "dark")["layout"]


def test_tables_say_what_is_out_of_the_band_and_lead_to_timelines():
    table = case_table(CASES, [1, 0], Wanted(), DEFAULT_BAND, lambda *_: Asked("ring", changes=("a.b=1",)))
    rows = table.children[1].children
    assert [getattr(row, "data-href") for row in rows] == ["/?scenario=ring&set=a.b%3D1"] * 2
    assert [getattr(cell, "className", "") for cell in rows[0].children][5:7] == ["bad", ""]
    assert "−20.0 %" in texts(rows[0])
    unknown = case_table(CASES, [0], Wanted(), DEFAULT_BAND, lambda *_: None).children[1].children[0]
    assert not hasattr(unknown, "data-href")


def test_errors_by_technique_and_altogether():
    report = accuracy(CASES)
    claim, _, body = technique_table(report, Wanted(technique="ring")).children
    rows = body.children
    assert [texts(row)[0] for row in rows] == ["ring", "tiles", "all"]
    assert rows[0].className == "here"
    assert texts(rows[0])[1:5] == ["3", "9.3 %", "−20.0 %", "66 %"]
    assert "Kept in every recording by 0 of 2 techniques" in claim.children
    assert "4" in texts(summary_cards(report))
    assert "none is like this" in texts(summary_cards(accuracy(())))


class Finds:
    """A source that finds everything."""

    def finder(self):
        """Under the name of its technique."""
        return lambda technique, device, params: Asked(technique)


def test_a_clicked_point_leads_to_its_case_and_no_other_click_anywhere():
    cases, _ = known_cases()
    assert pointed(Finds(), {"points": [{"customdata": 5}]}) == f"/?scenario={cases[5].technique}"
    for click in (None, {"points": [{}]}, {"points": [{"customdata": 10**9}]}):
        with pytest.raises(PreventUpdate):
            pointed(Finds(), click)


def test_the_page_opens_with_the_worst_case_and_simulates_nothing(monkeypatch):
    monkeypatch.setattr("gpusim.scenario.technique.Technique.build", lambda *_: pytest.fail("simulated"))
    page = register_accuracy(Flask("test"), Finds()).layout()
    words = texts(page)
    cases, _ = known_cases()
    assert f"{len(cases):,}" in words
    worst = max(cases, key=lambda case: abs(case.comparison.total_error))
    _, _, (_, (_, _, (first, *_))) = page["tables"].data["case-rows"]
    assert worst.label in str(first)


def test_a_broken_recording_is_told_on_the_page(monkeypatch):
    def broken():
        raise RecordingError("truncated", path="totals.json")

    monkeypatch.setattr("gpusim.dashboard.pages.accuracy.known_cases", broken)
    assert any("truncated" in text for text in texts(register_accuracy(Flask("test"), Finds()).layout()))
