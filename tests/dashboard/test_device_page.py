"""The device page: quantities, the roofline and the occupancy calculator."""

import math

import pytest
from dash.exceptions import PreventUpdate
from flask import Flask
from page_texts import texts

from gpusim.dashboard.pages.accuracy_rows import known_cases
from gpusim.dashboard.pages.device import _occupancy, _quantities, _roofline, asked_device, register_device
from gpusim.dashboard.pages.device_occupancy import KIB, Cta, answer_of, bounds_of, steps_figure
from gpusim.dashboard.pages.device_roofline import VIEWS, peaks_of, roofline_figure, spots_of
from gpusim.dashboard.pages.device_tables import found, kind_counts, number_and_unit, quantity_table
from gpusim.hardware.profile import Quantity, load_profile, profile_names

H200 = load_profile("h200_sxm")


def test_the_search_looks_at_names_kinds_and_sources():
    names = {quantity.name for quantity in found(H200, "hbm bandwidth")}
    assert "hbm.read_bandwidth" in names
    assert all("hbm" in name or "bandwidth" in name for name in names)
    assert {quantity.kind for quantity in found(H200, "", "assumed")} == {"assumed"}
    assert found(H200, "no such thing") == []
    assert sum(kind_counts(H200).values()) == len(H200.quantities)


def test_every_quantity_has_a_row_in_the_group_of_its_first_word():
    table = quantity_table(found(H200))
    groups = {body.children[0].id: len(body.children) - 1 for body in table.children[1:]}
    assert sum(groups.values()) == len(H200.quantities)
    assert groups["group-hbm"] == sum(name.startswith("hbm.") for name in H200.quantities)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("4.661 us", ("4.661", "us")), ("132", ("132", "")), ("2.075e+04 GB/s", ("20.75", "TB/s")), ("e+", ("e+", ""))],
)
def test_numbers_stand_beside_their_units(text, shown):
    assert number_and_unit(Quantity("a.b", 1.0, "time", text, "measured", "s")) == shown


def test_the_peaks_are_those_of_predictions():
    cases, _ = known_cases()
    meta = next(
        c.comparison.measured.meta for c in cases if c.device == "h200_sxm" and c.technique == "tma_warp_specialized"
    )
    peaks = peaks_of("h200_sxm")
    assert peaks.bytes_per_s == pytest.approx(meta["peak_bytes_per_s"])
    assert peaks.flop_per_s == pytest.approx(meta["peak_flop_per_s"])


@pytest.mark.parametrize("device", profile_names())
@pytest.mark.parametrize("view", VIEWS)
def test_every_device_has_roofs_and_all_its_kernels_are_in_sight(device, view):
    cases, _ = known_cases()
    spots, _ = spots_of(cases, device)
    assert bool(spots) == (device in ("h200_sxm", "h100_sxm"))
    figure = roofline_figure(peaks_of(device), spots, view, "light")
    shown = [number for trace in figure["data"] if trace["mode"] == "markers" for number in trace["customdata"]]
    assert sorted(shown) == [spot.number for spot in spots]
    (left, right), (low, high) = (figure["layout"][axis]["range"] for axis in ("xaxis", "yaxis"))
    for trace in figure["data"]:
        if trace["mode"] == "markers":
            assert all(left <= math.log10(x) <= right for x in trace["x"])
            assert all(low <= math.log10(y) <= high for y in trace["y"])


def test_the_roofs_meet_at_the_ridge():
    peaks = peaks_of("h200_sxm")
    roof = roofline_figure(peaks, [], "FLOP/s", "light")["data"][0]
    assert roof["x"][1] == pytest.approx(peaks.flop_per_s / peaks.bytes_per_s)
    assert roof["y"][1:] == pytest.approx([peaks.flop_per_s] * 2)
    assert roof["y"][0] == pytest.approx(roof["x"][0] * peaks.bytes_per_s)


def test_occupancy_names_the_limiter():
    """64 registers of 256 threads are a quarter of the file; 100 KiB of shared memory fit twice."""
    words = texts(answer_of(H200, Cta(256, 64, 32 * KIB)))
    assert words[words.index("CTAs per SM") + 1 : words.index("CTAs per SM") + 3] == ["4", "limit: registers"]
    assert "50 % occupancy" in words
    assert "limit: shared memory" in texts(answer_of(H200, Cta(256, 64, 100 * KIB)))
    assert "limit: warps per SM" in texts(answer_of(H200, Cta(1024, 16, 0)))


@pytest.mark.parametrize("cta", [Cta(2048), Cta(registers=300), Cta(shared_bytes=1024 * KIB), Cta(1024, 255)])
def test_what_does_not_fit_is_told_with_its_bound(cta):
    (answer,) = answer_of(H200, cta)
    assert answer.role == "alert"
    assert "allows" in answer.children


@pytest.mark.parametrize("cta", [Cta(), Cta(2048), Cta(100, 255, 227 * KIB)])
def test_the_steps_go_down_and_through_the_cta(cta):
    data = steps_figure(H200, cta, "light")["data"]
    for line, here in zip(data[::2], data[1::2], strict=True):
        assert line["y"] == sorted(line["y"], reverse=True)
        if here["x"][0] in line["x"]:
            assert line["y"][line["x"].index(here["x"][0])] == here["y"][0]


def test_the_bounds_of_the_fields_are_those_of_the_device():
    assert bounds_of(H200).shared_bytes == 227 * KIB


@pytest.mark.parametrize("typed", [(None, 64, 32), (256, "", 32), (0, 64, 32)])
def test_an_empty_field_waits_for_its_number(typed):
    assert texts(_occupancy("h200_sxm", *typed, "light")) == ["Type a number into each field."]


def test_an_unknown_device_in_the_address_is_the_first_one():
    assert asked_device("device=b200") == "b200"
    assert asked_device("device=../../secrets") == "h200_sxm"
    for answer in (
        lambda device: _roofline(device, "FLOP/s", "light"),
        lambda device: _quantities(device, "", "all"),
        lambda device: _occupancy(device, 256, 64, 32, "light"),
    ):
        with pytest.raises(PreventUpdate):
            answer("../../secrets")


def test_an_unknown_device_in_the_address_is_told():
    """With the one that is perhaps meant."""
    app = register_device(Flask("test"), None)

    def opened(device):
        with Flask("test").test_request_context(headers={"Referer": f"http://localhost/device/?device={device}"}):
            return " ".join(texts(app.layout()))

    assert "names a device that there is not: 'h200'. Did you mean h200_sxm?" in opened("h200")
    assert "names a device" not in opened("b200")


def test_the_page_opens_with_all_quantities():
    assert f"{len(H200.quantities)} quantities" in texts(register_device(Flask("test"), None).layout())
