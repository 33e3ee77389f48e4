"""The ladder: every rung has its scenario, its numbers come from cases, and its steps from its timeline."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from page_texts import texts

from gpusim.dashboard.figure.track import Track
from gpusim.dashboard.page.case import UNCHANGED, Asked, Case, CaseError, Numbers
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.dashboard.pages.ladder import REMEDIES, RUNGS, Rung
from gpusim.dashboard.pages.ladder_figure import draw_rung, steps_of, window_of
from gpusim.dashboard.pages.ladder_numbers import filled, gain, idle_of, lines_of, remaining
from gpusim.dashboard.pages.learn import KeptCases, address, filled_rung, register_learn
from gpusim.timeline import TimelineBuilder

FOLDER = Path(__file__).parents[2] / "scenarios"


@pytest.fixture(scope="module")
def shipped():
    return KeptCases(ScenarioFolder(FOLDER))


def made(copy_s, compute_s, tiles=4, **meta):
    """A CTA that copies and then computes, tile after tile."""
    builder, at = TimelineBuilder(), 0.0
    for tile in range(tiles):
        builder.add("sm[0].cta[0].input[0]", "copy", at, at + copy_s, tile=tile, stage=0)
        builder.add("sm[0].cta[0].consumer", "wait", at, at + copy_s, tile=tile, reason="stage_empty")
        builder.add("sm[0].cta[0].consumer", "compute", at + copy_s, at + copy_s + compute_s, tile=tile)
        at += copy_s + compute_s
    return builder.build(source="predicted", total_s=at, **meta)


def case_of(timeline, **more):
    numbers = Numbers(total_s=timeline.total_s)
    return Case("made", "?", (), Track(timeline, "predicted"), None, numbers, **more)


def work_of(timeline):
    """What a kernel computes, or how much a program of the host copies."""
    copied = timeline.bytes[timeline.mask(lanes=r"^copy_engine")].sum()
    return timeline.meta.get("flop") or float(copied)


LANES = r"^sm\[0\]\.cta\[0\]\.(consumer|input\[\d\])$"


@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.title)
def test_every_rung_is_filled_from_its_scenario(shipped, rung):
    parts = filled_rung(shipped, rung, 1300, "light")
    words = texts(parts)
    case = shipped.case(rung.asked)
    assert "predicted" in words
    assert "Remains" in words
    assert ("Gain" in words) == ("Fills" in words) == (rung.against is not None)
    assert case.recorded, "the ladder stands on recordings"


@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.title)
def test_every_rung_shows_few_enough_intervals_to_tell_them_apart(shipped, rung):
    case = shipped.case(rung.asked)
    drawing = draw_rung(case, rung, 900, "light")
    assert not drawing.binned
    steps = drawing.figure["layout"]["meta"]["steps"]
    times = [at for at, _ in steps]
    assert len(steps) > 10
    assert times == sorted(set(times))
    assert all(0 <= at <= drawing.window_us[1] for at in times)


@pytest.mark.parametrize("rung", [rung for rung in RUNGS if rung.against], ids=lambda rung: rung.title)
def test_a_rung_and_what_it_stands_against_do_the_same_work(shipped, rung):
    ours, theirs = (work_of(shipped.case(asked).predicted.timeline) for asked in (rung.asked, rung.against))
    assert ours > 0
    assert ours == pytest.approx(theirs, rel=0.03)


def test_levels_go_up_and_all_of_them_are_there():
    levels = [rung.level for rung in RUNGS]
    assert levels == sorted(levels)
    assert set(levels) == {0, 1, 2, 3, 4}


def test_remedies_lead_to_scenarios_that_ship():
    names = {path.stem for path in FOLDER.glob("*.yaml")}
    assert {name for one in REMEDIES for name in one.scenarios} <= names


def test_idle_time_is_that_of_the_timeline():
    """Copies take 3 of every 4 seconds, computing the fourth."""
    idle = idle_of(made(3.0, 1.0, hbm_busy=0.6))
    assert idle["computing warps not computing"] == pytest.approx(0.75)
    assert idle["wait: no filled stage"] == pytest.approx(0.75)
    assert idle["HBM idle"] == pytest.approx(0.4)


def test_units_of_a_host_program_are_idle_when_no_copy_and_no_kernel_runs():
    builder = TimelineBuilder()
    builder.add("copy_engine[h2d]", "transfer", 0.0, 1.0)
    builder.add("stream[0]", "kernel", 1.0, 3.0)
    builder.add("stream[1]", "kernel", 2.0, 3.0)
    builder.add("host[0]", "wait", 0.0, 4.0, reason="host_sync")
    idle = idle_of(builder.build(total_s=4.0))
    assert idle == pytest.approx({"copy engine H2D idle": 0.75, "kernels idle": 0.5})


def test_what_is_filled_is_what_became_less_and_the_rest_remains():
    before, now = case_of(made(3.0, 1.0)), case_of(made(1.0, 1.0))
    (first, *_) = filled(now, before)
    assert (first.before, first.now) == pytest.approx((0.75, 0.5))
    assert filled(before, now) == []
    assert {change.now for change in remaining(now)} == {0.5}
    assert gain(now, before) == (pytest.approx(2.0), None)


def test_only_a_recording_counts_as_measured():
    """What a change stands against otherwise is a prediction, too."""
    slow = Numbers(total_s=9.0)
    case = case_of(made(1.0, 1.0), other_numbers=slow, recorded=True)
    assert "measured" in [line.name for line in lines_of(case, None)]
    unmeasured = replace(case, recorded=False, against=UNCHANGED)
    assert "measured" not in [line.name for line in lines_of(unmeasured, None)]


def test_the_window_ends_with_the_tiles_that_are_shown_and_steps_are_starts_of_work():
    case = case_of(made(3e-6, 1e-6))
    rung = Rung(0, "", "", "", Asked("made"), tiles=2, lanes=LANES)
    assert window_of(case, rung) == pytest.approx((0.0, 8.32))
    steps = steps_of(case.predicted, rung, (0.0, 8.0))
    assert steps == [
        [0.0, "input[0]: copy in flight 0"], [3.0, "consumer: compute 0"],
        [4.0, "input[0]: copy in flight 1"], [7.0, "consumer: compute 1"],
    ]  # fmt: skip
    assert window_of(case, replace(rung, tiles=0)) is None


def test_a_folder_without_the_scenarios_says_so(source):
    (part,) = filled_rung(KeptCases(source), RUNGS[0], 1300, "light")
    assert "stream_pipeline" in part.children


def test_a_case_is_made_anew_only_when_its_scenario_has_changed():
    class Changing:
        """Counts what is asked for."""

        made, now = 0, "1"

        def stamp(self, name):
            """As a file that can be written."""
            return self.now

        def case(self, asked):
            """A new one."""
            self.made += 1
            return self.made

    source = Changing()
    kept = KeptCases(source)
    assert (kept.case(Asked("a")), kept.case(Asked("a"))) == (1, 1)
    source.now = "2"
    assert kept.case(Asked("a")) == 2


def test_an_error_is_not_kept(source):
    with pytest.raises(CaseError):
        KeptCases(source).case(Asked("none"))


def test_the_page_opens_without_any_prediction(monkeypatch):
    folder = ScenarioFolder(FOLDER)
    monkeypatch.setattr(folder, "case", lambda *_: pytest.fail("predicted"))
    words = texts(register_learn(Flask("test"), folder).layout())
    assert {rung.title for rung in RUNGS} <= set(words)
    assert "predicting …" in words


def test_no_number_of_a_result_is_written_by_hand():
    """Times, shares and factors in the words of a rung would not follow the model."""
    for rung in RUNGS:
        assert not re.search(r"\d+(\.\d+)?\s*(%|×|µs|ms)", f"{rung.idea} {rung.changed}")
        assert address(rung.asked).startswith("/?scenario=")
