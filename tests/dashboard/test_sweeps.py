"""A scenario's sweep on the page: points, lines, stars, ranking, and what a click on one asks for."""

import pytest

from gpusim.dashboard.page.case import Asked, CaseError
from gpusim.dashboard.page.changing import NOTHING, changed_list
from gpusim.dashboard.page.content import show_sweep
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.dashboard.page.sweep_panel import PICK, sweep_figure, sweep_table
from gpusim.dashboard.page.sweeps import MOST_POINTS, Sweep, SweepRow

SCENARIO = """
question: How many stages?
device: textbook
kernel:
  grid: 132
  tiles_per_cta: 12
  rings: {input: {stages: 2, bytes: 8 KiB}}
  roles:
    producer: {warps: 1, per_tile: [{acquire: input}, {tma_load: input}]}
    consumer: {warps: 4, per_tile: [{wait: input}, {compute: {ffma: 64, ilp: 4}}, {release: input}]}
sweep: {kernel.rings.input.stages: [1, 2, 40], kernel.roles.consumer.per_tile.1.compute.ffma: [64, 128]}
"""
STAGES, FFMA = "kernel.rings.input.stages", "kernel.roles.consumer.per_tile.1.compute.ffma"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO)
    (tmp_path / "none.yaml").write_text(SCENARIO.partition("sweep:")[0])
    (tmp_path / "many.yaml").write_text(SCENARIO.replace("[1, 2, 40]", str(list(range(1, MOST_POINTS + 2)))))
    return ScenarioFolder(tmp_path)


def texts(component):
    if isinstance(component, str | int | float):
        return str(component)
    if isinstance(component, list | tuple):
        return " ".join(map(texts, component))
    return texts(getattr(component, "children", None) or "")


def test_every_point_is_predicted_and_says_what_makes_it(folder):
    sweep = folder.sweep(Asked("s"))
    assert (sweep.axes, sweep.labels) == ((STAGES, FFMA), ("input stages", "consumer compute ffma"))
    assert len(sweep.rows) == 6
    assert sweep.rows[0].changes == (f"{STAGES}=1", f"{FFMA}=64")
    case = folder.case(Asked("s", changes=sweep.rows[0].changes))
    assert sweep.rows[0].predicted_s == pytest.approx(case.predicted_numbers.total_s)


def test_a_point_that_does_not_fit_keeps_its_reason(folder):
    sweep = folder.sweep(Asked("s"))
    assert [row.values[0] for row in sweep.rows if row.error] == ["40", "40"]
    assert len(sweep.ranked) == 4
    assert "shared" in texts(sweep_table(sweep, ()))


def test_changes_of_what_is_not_swept_over_count(folder):
    other = folder.sweep(Asked("s", changes=("kernel.tiles_per_cta=24", f"{STAGES}=2")))
    assert other.rows[0].predicted_s > 1.5 * folder.sweep(Asked("s")).rows[0].predicted_s
    assert folder.sweep(Asked("s", changes=(f"{STAGES}=2",))) is folder.sweep(Asked("s"))


def test_a_scenario_without_a_sweep_says_so_and_one_of_too_many_points_what_to_do(folder):
    assert "no sweep section" in texts(show_sweep(folder, Asked("none"), "light")[1])
    with pytest.raises(CaseError, match="gpusim sweep"):
        folder.sweep(Asked("many"))
    assert "gpusim sweep" in texts(show_sweep(folder, Asked("many"), "light")[1])


def test_measured_points_lie_on_predicted_lines_and_each_side_has_its_best(source):
    figure = sweep_figure(source.sweep(Asked("ring")), "light")
    predicted, measured = figure["data"]
    assert predicted["x"] == measured["x"] == ["1", "2", "3"]
    assert predicted["y"] == pytest.approx([9.0, 5.0, 4.8])
    assert figure["layout"]["yaxis"]["ticksuffix"] == " µs"
    assert predicted["marker"]["symbol"] == ["circle", "circle", "star"]
    assert measured["marker"]["symbol"] == ["circle-open", "star", "circle-open"]
    assert measured["customdata"][1] == "kernel.params.stages=2"
    assert figure["layout"]["xaxis"]["title"]["text"].endswith("● predicted    ○ measured    ★ best")


def test_the_axis_with_most_values_goes_across_and_the_others_make_lines():
    rows = [SweepRow((a, b), (f"a={a}", f"b={b}"), 1.0 + int(b)) for a in "12" for b in "345"]
    figure = sweep_figure(Sweep(("a", "b"), ("a", "b"), tuple(rows)), "dark")
    assert [trace["name"] for trace in figure["data"]] == ["1", "2"]
    assert figure["data"][0]["x"] == ["3", "4", "5"]
    assert figure["layout"]["yaxis"]["ticksuffix"] == " ms"


def test_axes_that_change_together_make_one_line():
    rows = [SweepRow((str(a), str(264 // a)), (f"a={a}",), 1e-6 * a) for a in (1, 2, 4)]
    figure = sweep_figure(Sweep(("a", "b"), ("a", "b"), tuple(rows)), "light")
    assert [trace["x"] for trace in figure["data"]] == [["1, 264", "2, 132", "4, 66"]]
    assert not figure["layout"]["showlegend"]


def test_the_ranking_marks_the_point_that_is_shown(source):
    table = sweep_table(source.sweep(Asked("ring")), ("kernel.params.stages=2", "a=1"))
    rows = table.children[1].children
    assert [row.className.strip() for row in rows[:3]] == ["pick", "pick here", "pick"]
    assert "does not fit" in texts(rows[3])


def test_points_of_unlike_work_are_ranked_by_time_per_work_and_the_table_says_so(folder):
    """Twice the FFMAs take longer than one time, but not twice as long: both of two stages are behind that."""
    sweep = folder.sweep(Asked("s"))
    assert sweep.ranked[0].values[1] == "128"
    assert sweep.ranked[0].predicted_s > min(row.predicted_s for row in sweep.rows if not row.error)
    assert "FLOPs differ; ranked by time per FLOP" in texts(sweep_table(sweep, ()))
    assert "not the same work" not in texts(sweep_table(Sweep(rows=(SweepRow(("1",), ("a=1",), 1.0),)), ()))


def test_a_picked_point_replaces_what_was_set_on_its_axes():
    known = {**NOTHING, "list": ["stages=1", "grid=264"]}
    picked = {"type": PICK, "changes": "stages=4\nwarps=8"}
    assert changed_list(picked, known, (), (None, None))["list"] == ["grid=264", "stages=4", "warps=8"]
