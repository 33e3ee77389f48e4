"""What the cards, the advice and the banner say, of shipped scenarios and of made-up cases."""

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_source import case_of
from synthetic_timelines import pipeline

from gpusim.dashboard.figure.recorded import overhead_of, tiles_kept
from gpusim.dashboard.page.cards import banners, card_row
from gpusim.dashboard.page.case import Asked
from gpusim.dashboard.page.content import show_advice
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.scenario.levers.advice import Advice, Lever

FOLDER = Path(__file__).parents[2] / "scenarios"


@pytest.fixture(scope="module")
def shipped():
    return ScenarioFolder(FOLDER)


def texts(component):
    """All text in a tree of components."""
    if isinstance(component, list | tuple):
        return " ".join(map(texts, component))
    return component if isinstance(component, str) else texts(getattr(component, "children", None) or "")


def cards_of(case):
    """Cards by title, each with its value and caption."""
    return {card.children[0].children: texts(card.children[1:]).strip() for card in card_row(case)}


def recorded(tiles, of_tiles, **meta):
    measured = pipeline(tiles=tiles, source="measured").with_meta(tiles_per_cta=of_tiles, **meta)
    return case_of("part", pipeline(tiles=of_tiles), measured)


def test_a_speedup_is_over_what_a_scenario_has_several_of(shipped):
    assert "over one stage" in cards_of(shipped.case(Asked("stages")))["Speed-up"]
    assert "over one stream" in cards_of(shipped.case(Asked("stream_pipeline")))["Speed-up"]


@pytest.mark.parametrize("name", ["cuda_graph", "convolution", "occupancy", "fused_softmax", "random_access"])
def test_without_a_baseline_there_is_no_speedup(shipped, name):
    assert "Speed-up" not in cards_of(shipped.case(Asked(name)))


def test_cards_that_do_not_apply_are_left_out(shipped):
    assert "Occupancy" not in cards_of(shipped.case(Asked("stream_pipeline")))
    assert not {"Hidden copy time", "Exposed copy", "Per tile", "Occupancy"} & set(
        cards_of(shipped.case(Asked("fused_softmax")))
    )


def test_without_a_measurement_there_is_no_caption_and_no_card_of_it():
    cards = cards_of(case_of("alone", pipeline()))
    assert "Measured" not in cards
    for title in ("Hidden copy time", "Exposed copy", "Per tile"):
        assert cards[title].endswith(("%", "ns", "µs"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("random_access", "gpusim measure scenarios/random_access.yaml"),
        ("own_rows", "only spelled out"),
        ("copy_engines", "changes the device"),
    ],
)
def test_what_is_not_measured_says_how_it_would_be(shipped, name, words):
    assert words in cards_of(shipped.case(Asked(name)))["Predicted"]


def test_a_hidden_fraction_outside_its_band_says_so_and_is_coloured(source):
    case = source.case(Asked("ring"))
    near, far = (
        replace(case, other_numbers=replace(case.other_numbers, hidden_fraction=part))
        for part in (case.predicted_numbers.hidden_fraction - 0.04, case.predicted_numbers.hidden_fraction - 0.126)
    )
    assert "+4.0 points, within ±5" in cards_of(near)["Hidden copy time"]
    assert "+12.6 points, outside ±5" in cards_of(far)["Hidden copy time"]
    assert "bad strong" in str(card_row(far))


def test_a_recording_of_some_rings_says_which_it_is_compared_over(shipped):
    assert "keys with stamps" in cards_of(shipped.case(Asked("attention")))["Hidden copy time"]
    assert shipped.case(Asked("stages")).watched == ()


def test_copies_that_nothing_hides_say_so(shipped):
    assert "nothing computes beside a copy" in cards_of(shipped.case(Asked("own_requests")))["Hidden copy time"]
    assert "nothing computes" not in cards_of(shipped.case(Asked("own_rows")))["Hidden copy time"]


def test_the_grid_can_limit_the_ctas_on_an_sm(shipped):
    said = cards_of(shipped.case(Asked("own_kernel")))["Occupancy"]
    assert said.startswith("2 of 4 CTAs/SM")
    assert "grid of 264" in said


@pytest.mark.parametrize(("name", "kept"), [("register_split", (150, 200)), ("stencil", (150, 192)), ("stages", None)])
def test_a_recording_of_the_first_tiles_says_how_many(shipped, name, kept):
    assert tiles_kept(shipped.case(Asked(name)).other.timeline) == kept


def test_exposed_time_of_part_of_a_run_is_not_shown_beside_that_of_all_of_it(shipped):
    case = shipped.case(Asked("register_split"))
    assert case.other_numbers.exposed_s is None
    assert "150 of 200 tiles only" in cards_of(case)["Exposed copy"]
    assert "first 150 of 200 tiles" in case.side_notes["measured"]
    assert tiles_kept(recorded(30, 30).other.timeline) is None


def test_a_run_that_the_tracer_stretched_gets_a_banner(shipped):
    assert banners(shipped.case(Asked("stages"))) == []
    total_s = pipeline(tiles=8, source="measured").total_s
    for factor, warned in ((1.2, False), (1.3, True)):
        case = recorded(8, 8, instrumented_total_s=factor * total_s)
        assert overhead_of(case.other.timeline) == pytest.approx(factor - 1)
        assert ("order of events" in texts(banners(case))) is warned


def test_what_is_enough_stands_right_after_the_verdict(shipped):
    said = texts(show_advice(shipped, Asked("software_pipelining")))
    assert "leave it 2 stages are enough" in said
    assert "±0.0 %" not in said


def test_only_changes_with_an_effect_are_named_and_only_real_gains_are_green():
    from gpusim.dashboard.page.advice import advice_line

    gains = {"a 1 → 2": 0.019, "b 1 → 2": 0.001, "c 1 → 2": -0.002, "d 1 → 2": -0.3}
    levers = tuple(Lever(change[0], change, 1 - gain, gain, {"x": 2}) for change, gain in gains.items())
    line = advice_line(Advice(1.0, None, None, levers))
    assert "a 1 → 2  −1.9 %" in texts(line)
    assert not any(f"{name} 1 → 2" in texts(line) for name in "bcd")
    assert "others: 2 no effect, 1 slower" in texts(line)
    assert "'good'" not in str(line)
