"""Device profiles: every number has a unit, a kind and a source, and may be replaced."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpusim import loads, predict
from gpusim.errors import ProfileError, ScenarioError
from gpusim.hardware import load_profile, profile_names
from gpusim.hardware.profile import HOST_GROUPS, KINDS, profile_from_yaml, profile_text
from gpusim.units import DIMENSIONS
from gpusim.validation import measurement_of
from tests.tile_programs import cp_async_ring, sync_loop, textbook, tma_ring, total_ns

MINIMAL = "title: Test\nquantities:\n  sm.clock: {{{entry}}}\n"


@pytest.mark.parametrize("name", profile_names())
class TestEveryProfile:
    """What a file in ``profiles/`` must satisfy."""

    def test_every_quantity_has_unit_kind_and_source(self, name):
        """And a value that is a number."""
        for key, quantity in load_profile(name).quantities.items():
            assert quantity.dimension in DIMENSIONS, key
            assert quantity.kind in KINDS, key
            assert quantity.source.strip(), key
            assert quantity.value >= 0, key

    def test_says_what_it_is_and_what_is_left_out(self, name):
        """Title and description stand in every report."""
        profile = load_profile(name)
        assert profile.title
        assert len(profile.description) > 40

    def test_lists_what_is_assumed(self, name):
        """Exactly the quantities of that kind."""
        profile = load_profile(name)
        everything = [key for key, q in profile.quantities.items() if q.kind == "assumed"]
        assert profile.assumed_with_host == everything
        assert profile.assumed == [key for key in everything if key.split(".")[0] not in HOST_GROUPS]

    def test_runs_a_kernel(self, name):
        """No quantity that the model asks for is missing."""
        profile = load_profile(name)
        programs = [sync_loop(tiles=4), cp_async_ring(2, tiles=4)]
        if profile.value("sm.compute_capability") >= 9.0:
            programs.append(tma_ring(2, tiles=4))
        for program in programs:
            assert total_ns(program, profile) > 0

    def test_measured_bandwidth_is_below_the_published_peak(self, name):
        """Reads reach most of the peak, and no number beats it."""
        profile = load_profile(name)
        peak = profile.value("hbm.peak_bandwidth")
        assert 0.75 * peak <= profile.value("hbm.read_bandwidth") <= peak
        assert profile.value("hbm.write_bandwidth") <= peak


def test_h200_peak_is_what_six_stacks_deliver():
    """Six stacks of 1024 bit at the recorded memory clock of 3201 MHz, two bits a clock: 4.917 TB/s.

    The data sheet says 4.8 TB/s, 2.4 % less; the entry is the data sheet's.
    """
    pins = 6 * 1024 * 2 * 3201e6 / 8
    assert load_profile("h200_sxm").value("hbm.peak_bandwidth") == pytest.approx(pins, rel=0.03)


def test_h200_peak_of_fp32_is_the_published_one():
    """132 SMs × 4 schedulers × 32 lanes × 2 FLOP × 1.98 GHz = 66.9 TFLOP/s; the data sheet says 67."""
    profile = load_profile("h200_sxm")
    flop = 2 * 32 * profile.value("sm.schedulers") * profile.value("sm.count") * profile.clock_hz
    assert flop == pytest.approx(67e12, rel=0.005)


class TestOverrides:
    """What if a number were another one."""

    def test_value_is_replaced_and_becomes_an_assumption(self):
        """The rest stays; the original is untouched."""
        changed = load_profile("h200_sxm", {"hbm.read_bandwidth": "8 TB/s"})
        assert changed.value("hbm.read_bandwidth") == 8e12
        assert "hbm.read_bandwidth" in changed.assumed
        assert changed.value("hbm.write_bandwidth") == load_profile("h200_sxm").value("hbm.write_bandwidth")
        assert "hbm.read_bandwidth" not in load_profile("h200_sxm").assumed

    def test_cycles_become_seconds_with_the_clock(self):
        """100 cycles at 1 GHz."""
        assert textbook(tma__l2_latency="100 cycles").seconds_of("tma.l2_latency") == pytest.approx(100e-9)

    @pytest.mark.parametrize("given", ["8 GHz", "fast", "-1 TB/s", "nan TB/s", "0 B/s"])
    def test_wrong_value_is_refused(self, given):
        """Another unit, no number, negative, not a number, and a bandwidth of nothing."""
        with pytest.raises(ProfileError, match=r"hbm\.read_bandwidth") as caught:
            load_profile("h200_sxm", {"hbm.read_bandwidth": given})
        assert caught.value.key == "hbm.read_bandwidth"
        assert caught.value.given == given

    def test_unknown_quantity_suggests_the_nearest(self):
        """A misspelt name."""
        with pytest.raises(ProfileError, match="no quantity") as caught:
            load_profile("h200_sxm", {"hbm.read_bandwith": "8 TB/s"})
        assert caught.value.suggestion == "hbm.read_bandwidth"

    def test_unknown_device_lists_those_there_are(self):
        """With the nearest name."""
        with pytest.raises(ProfileError, match="h200_sxm") as caught:
            load_profile("h200sxm")
        assert caught.value.suggestion == "h200_sxm"


class TestBrokenFiles:
    """No source, no load."""

    @pytest.mark.parametrize(
        ("entry", "complaint"),
        [
            ("value: 1 GHz, kind: measured", "lacks source"),
            ("value: 1 GHz, kind: measured, source: ''", "lacks source"),
            ("kind: measured, source: x", "lacks value"),
            ("value: 1 GHz, source: x", "lacks kind"),
            ("value: 1 GHz, kind: guessed, source: x", "guessed"),
            ("value: 1 lightyear, kind: measured, source: x", "lightyear"),
        ],
    )
    def test_incomplete_entry_does_not_load(self, entry, complaint):
        """The message names the quantity and what is wrong with it."""
        with pytest.raises(ProfileError, match=complaint) as caught:
            profile_from_yaml("test", MINIMAL.format(entry=entry))
        assert caught.value.key == "sm.clock"

    def test_quantities_of_another_device_are_assumed(self):
        """``like`` takes over numbers, but not their standing."""
        text = "title: Test\nlike: h200_sxm\nquantities:\n  sm.count: {value: 2, kind: specified, source: x}\n"
        profile = profile_from_yaml("test", text)
        assert profile.quantities["hbm.read_bandwidth"].kind == "assumed"
        assert profile.quantities["hbm.read_bandwidth"].source.startswith("as h200_sxm")
        assert profile.quantities["sm.count"].kind == "specified"


class TestOwnFile:
    """A profile that `gpusim calibrate` has written: a file, and its host half in ``host`` beside it."""

    def write(self, folder, launch="20 us"):
        """A copy of the H200's, with a launch of its own."""
        path = folder / "mine.yaml"
        path.write_text(profile_text("h200_sxm"), encoding="utf-8")
        half = (Path(load_profile.__code__.co_filename).parent / "profiles" / "host" / "h200_sxm.yaml").read_text()
        (folder / "host").mkdir(exist_ok=True)
        (folder / "host" / "mine.yaml").write_text(re.sub(r"(cupy.launch: {value: )[\d.]+ us", rf"\g<1>{launch}", half))
        return path

    def test_is_found_by_its_path_with_its_host_half(self, tmp_path):
        """And read again when it has changed."""
        path = str(self.write(tmp_path))
        assert load_profile(path).value("host.cupy.launch") == pytest.approx(20e-6)
        assert load_profile(path, {"hbm.read_bandwidth": "8 TB/s"}).value("hbm.read_bandwidth") == 8e12
        self.write(tmp_path, "30.5 us")
        assert load_profile(path).value("host.cupy.launch") == pytest.approx(30.5e-6)

    def test_a_mistake_in_its_host_half_is_told_with_that_file(self, tmp_path):
        """And its line."""
        path = str(self.write(tmp_path, "20 lightyears"))
        with pytest.raises(ProfileError, match=r"device host/mine\.yaml:\d+: host\.cupy\.launch cannot be"):
            load_profile(path)

    def test_is_compared_with_the_recordings_of_its_gpu(self, tmp_path):
        """If it says which that is, as `gpusim calibrate` makes it do."""
        path = self.write(tmp_path)
        text = f"question: q\ndevice: {path}\nkernel: {{technique: cuda_graph, params: {{mode: stream, nodes: 100}}}}\n"
        assert measurement_of(loads(text)) is None
        path.write_text("recordings: h200_sxm\n" + path.read_text())
        scenario = loads(text)
        assert measurement_of(scenario).device == "h200_sxm"
        assert predict(scenario).meta["device"] == "h200_sxm"

    def test_predicts(self, tmp_path):
        """A scenario names it."""
        text = "question: q\ndevice: {}\nkernel: {{technique: cuda_graph, params: {{mode: stream, nodes: 100}}}}\n"
        mine, shipped = (predict(loads(text.format(name))) for name in (self.write(tmp_path), "h200_sxm"))
        assert mine.total_s > 2 * shipped.total_s

    @pytest.mark.parametrize("text", [None, "[1, 2", "a: 1\n", "- 1\n", "title: t\nquantities: 3\n"])
    def test_that_is_none_is_named_with_its_line(self, tmp_path, text):
        """Missing, broken, or something else."""
        path = tmp_path / "other.yaml"
        if text is not None:
            path.write_text(text)
        with pytest.raises(ScenarioError, match=r"device: device other\.yaml"):
            loads(f"question: q\ndevice: {path}\nkernel: {{technique: sync_tile}}\n")
