"""A scenario's sweep on the page: points, lines, stars, ranking, and what a click on one asks for."""

import pytest

from gpusim.dashboard.figure.text import signed_percent
from gpusim.dashboard.page.altered import NOTHING
from gpusim.dashboard.page.case import Asked, CaseError
from gpusim.dashboard.page.changing import changed_list
from gpusim.dashboard.page.content import show_sweep
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.dashboard.page.sweep_panel import sweep_figure
from gpusim.dashboard.page.sweep_tables import PICK, sweep_tables
from gpusim.dashboard.page.sweeps import MOST_POINTS, Sweep, SweepRow, label_of

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
    assert sum(len(group.ranked) for group in sweep.groups) == 4
    assert "shared" in texts(sweep_tables(sweep, ()))


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
    assert figure["layout"]["xaxis"]["title"]["text"].endswith("● predicted  ○ measured  ★ best")


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
    (table,) = sweep_tables(source.sweep(Asked("ring")), ("kernel.params.stages=2", "a=1"))
    rows = table.children[1].children
    assert [row.className.strip() for row in rows[:3]] == ["pick", "pick here", "pick"]
    assert "does not fit" in texts(rows[3])


def test_for_each_amount_of_work_the_best_of_the_levers_is_told_and_the_one_setting_for_all(folder):
    sweep = folder.sweep(Asked("s"))
    assert sweep.work_axes == (FFMA,)
    note, bests, for_all, every = sweep_tables(sweep, (f"{STAGES}=2", f"{FFMA}=128"))
    assert texts(note) == "not the same work: FLOPs differ with consumer compute ffma; compared is what does the same"
    head, body = bests.children[1:]
    assert texts(head) == "consumer compute ffma best input stages predicted median worst"
    of = [group.best for group in sweep.groups]
    assert [texts(row).split()[:2] for row in body.children] == [["64", "2"], ["128", "2"]]
    assert [getattr(row, "data-point") for row in body.children] == ["\n".join(row.changes) for row in of]
    assert texts(body.children[0]).endswith(signed_percent(sweep.groups[0].worst_longer))
    assert texts(for_all) == "one setting for all:  input stages 2 , at most 0.0\u00a0% longer than the best of each"
    assert [row.className.strip() for row in every.children[2].children[:4]] == ["pick", "pick", "pick here", "pick"]
    assert sweep.best == of


def test_where_every_axis_changes_the_work_no_point_is_better_than_another():
    rows = [SweepRow((n,), (f"grid={n}",), 1e-6 * int(n), 1e-6, work={"flop": float(n)}) for n in ("1", "2")]
    sweep = Sweep(("grid",), ("grid",), tuple(rows))
    note, every = sweep_tables(sweep, ())
    assert texts(note).endswith(
        "differ with grid; every axis changes the work, so that no point is better than another"
    )
    assert texts(every.children[0]) == "grid predicted measured error"
    figure = sweep_figure(sweep, "light")
    assert "star" not in [symbol for trace in figure["data"] for symbol in trace["marker"]["symbol"]]


def test_where_no_levers_agree_for_every_amount_of_work_there_is_no_setting_for_all():
    points = ((1, "a"), (1, "b"), (2, "c"), (2, "d"))
    rows = [SweepRow((str(n), of), (f"grid={n}", f"of={of}"), 1e-6, work={"flop": float(n)}) for n, of in points]
    told = texts(sweep_tables(Sweep(("grid", "of"), ("grid", "of"), tuple(rows)), ()))
    assert "one setting" not in told


def test_a_picked_point_replaces_what_was_set_on_its_axes():
    known = {**NOTHING, "list": ["stages=1", "grid=264"]}
    picked = {"type": PICK, "changes": "stages=4\nwarps=8"}
    assert changed_list(picked, known, (), (None, None))["list"] == ["grid=264", "stages=4", "warps=8"]


def test_an_axis_is_called_by_its_words():
    """As the fields of the form are."""
    known = {"kernel.params.rows_per_cta": "rows per CTA", "kernel.params.ctas_per_sm": "CTAs per SM"}
    assert {path: label_of(path) for path in known} == known
