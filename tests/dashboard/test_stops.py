"""Where sliders rest."""

from pathlib import Path

import pytest
import yaml

from gpusim.dashboard.page.form import form_of
from gpusim.dashboard.page.panel import SLIDER, field_inputs
from gpusim.dashboard.page.stops import spelled_stops, stops_of
from gpusim.scenario import load, with_overrides
from gpusim.units import parse

SHIPPED = Path(__file__).resolve().parents[2] / "scenarios"


def test_a_short_range_has_every_value():
    assert stops_of(3, 1, 8, None) == (1, 2, 3, 4, 5, 6, 7, 8)
    assert stops_of(4, 2, 16, 2) == (2, 4, 6, 8, 10, 12, 14, 16)


def test_a_long_range_goes_by_factors_around_the_value():
    """With the value itself, whatever it is, and never beyond the limits."""
    assert stops_of(100, 1, 65535, None) == (
        8,
        12,
        16,
        24,
        32,
        48,
        64,
        96,
        100,
        128,
        192,
        256,
        384,
        512,
        768,
        1024,
        1536,
    )
    assert stops_of(16, 0, 256, None)[:4] == (0, 1, 2, 3)
    assert stops_of(65535, 1, 65535, None)[-1] == 65535


def test_times_go_by_factors_of_themselves():
    found = stops_of(0.003, 0.0, 10.0, None)
    assert {0.0, 0.0015, 0.003, 0.0045, 0.006} <= set(found)
    assert 0.0 < found[1] < found[-1] <= 0.003 * 16


def test_zero_has_a_way_up():
    assert stops_of(0, 0, 100, None)[:4] == (0, 1, 2, 3)
    assert len(stops_of(0.0, 0.0, 10.0, None)) > 5


@pytest.mark.parametrize(("base", "least", "most"), [(3, None, 8), (3, 1, None), (9, 1, 8), (1, 1, 1)])
def test_what_is_not_bounded_or_not_free_has_no_slider(base, least, most):
    assert stops_of(base, least, most, None) == ()


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_stop_is_a_value_that_its_field_allows(path):
    """As typed; a change to it may still be refused for what it does together with others."""
    scenario = load(path)
    for one in form_of(scenario, scenario, scenario, ()).fields:
        values, texts = [value for value, _ in one.stops], [text for _, text in one.stops]
        assert values == sorted(set(values))
        assert len(set(texts)) == len(texts)
        assert not texts or one.base in texts
        for value, text in one.stops:
            # Programs that are spelled out do not say what is most.
            assert one.most is None or one.least <= value <= one.most
            unit = text.lstrip("0123456789.e+-").strip()
            if unit:
                kind = "bytes" if unit.endswith("B") else "time"
                one_of = 1.0 if scenario.params else parse(f"1 {unit}", kind)
                assert parse(text, kind) == pytest.approx(value * one_of)


def test_a_slider_is_at_what_is_typed_or_at_what_was():
    scenario = load(SHIPPED / "stages.yaml")

    def places(*changes):
        now = (
            with_overrides(
                scenario, {path: yaml.safe_load(value) for path, value in (change.split("=") for change in changes)}
            )
            if changes
            else scenario
        )
        form = form_of(scenario, scenario, now, changes)
        sliders = [part for box in field_inputs(form) for part in box.children if part.id["type"] == SLIDER]
        return {part.id["path"].rpartition(".")[2]: part.label["options"]["texts"][part.value] for part in sliders}

    assert places()["stages"] == "3"
    assert places("kernel.params.stages=5")["stages"] == "5"
    assert places()["tile_bytes"] == "16 KiB"
    assert "device" not in places()


@pytest.mark.parametrize(
    ("key", "value", "first", "last"),
    [("stages", 3, "1", "8"), ("stages", 12, "1", "12"), ("warps", 4, "1", "16"), ("grid", 264, "24", "4096"),
     ("registers", 126, "24", "192"), ("bytes", "16 KiB", "1 KiB", "256 KiB"),
     ("duration", "40 us", "2.5 us", "640 us")],
)  # fmt: skip
def test_numbers_of_a_spelled_out_program_have_stops_around_them(key, value, first, last):
    texts = [text for _, text in spelled_stops(key, value)]
    assert (texts[0], texts[-1]) == (first, last)
    assert str(value) in texts


@pytest.mark.parametrize(("key", "value"), [("ffma", 512), ("l2_hit", 0.9), ("bytes", "0 KiB"), ("bytes", "all")])
def test_other_numbers_have_none(key, value):
    assert spelled_stops(key, value) == ()
