"""The committed profile is what the committed microbenchmark results say, and nothing else."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest
import yaml

from gpusim.errors import ProfileError, RecordingError
from gpusim.hardware import load_profile
from gpusim.hardware.calibration.calibrate import Measured, measure_quantities
from gpusim.hardware.calibration.profile_file import profile_text

RECORDED = Path(__file__).parents[2] / "realkernels/microbench/recorded/h200_sxm"
SAME_SM = RECORDED.parent / "h100_sxm"
FILES = [*SAME_SM.glob("*.json"), *RECORDED.glob("*.json")]
"""Those of a device with the same SM stand in for benches that this one lacks."""


@pytest.fixture(scope="module")
def measured():
    """All quantities of the committed results."""
    return measure_quantities(RECORDED)


@pytest.mark.parametrize("folder", [RECORDED, SAME_SM], ids=lambda folder: folder.name)
def test_profile_is_reproduced(folder):
    """Every entry of the file, in words; the head as well."""
    launch = json.loads((folder / "launch.json").read_text(encoding="utf-8"))
    again = yaml.safe_load(profile_text(launch["device"], measure_quantities(folder), launch["date"]))
    file = resources.files("gpusim.hardware") / "profiles" / f"{folder.name}.yaml"
    committed = yaml.safe_load(file.read_text(encoding="utf-8"))
    for key in ("title", "description", "quantities", "limits", "like"):
        assert again.get(key) == committed.get(key)


def test_devices_with_the_same_sm_say_the_same_of_it(measured):
    """Of some sixty numbers of an SM's units three quarters are within 1 % and nine in ten within 3."""
    units = ("sm.", "lsu.", "barrier.", "mbarrier.", "cp_async.", "tma.issue", "tma.bandwidth")
    other = measure_quantities(SAME_SM)
    apart = sorted(
        abs(other[key].value / number.value - 1.0)
        for key, number in measured.items()
        if key.startswith(units) and number.value
    )
    assert len(apart) > 50
    assert apart[len(apart) * 3 // 4] < 0.01
    assert apart[len(apart) * 9 // 10] < 0.03


def test_every_measured_entry_names_a_bench_that_is_recorded(measured):
    """The first word of the source is a file here."""
    benches = {path.stem for path in FILES}
    for key, number in measured.items():
        words = set(number.source.replace("(", " ").replace(":", " ").split())
        assert words & benches, key


def test_profile_holds_every_measured_value(measured):
    """As the loaded profile sees it, to the four digits of the file."""
    profile = load_profile("h200_sxm")
    for key, number in measured.items():
        assert profile.quantities[key].text == number.text, key
        assert profile.quantities[key].kind == "measured", key


def test_no_recording_of_a_technique_is_read(measured, tmp_path):
    """With nothing but the microbenchmarks' files in the folder the numbers are the same."""
    for path in FILES:
        shutil.copy(path, tmp_path)
    assert measure_quantities(tmp_path) == measured


@pytest.mark.parametrize("bench", ["clock", "issue", "lds", "barrier", "tma", "ldg", "hbm", "alignment", "launch"])
def test_missing_bench_is_named(bench, tmp_path):
    """A profile is never written from a part of the results."""
    for path in FILES:
        if path.stem != bench:
            shutil.copy(path, tmp_path)
    with pytest.raises(RecordingError, match=f"{bench}.json"):
        measure_quantities(tmp_path)


def test_broken_or_empty_bench_is_named(tmp_path):
    """Truncated JSON; a file without the rows that are needed."""
    for path in FILES:
        shutil.copy(path, tmp_path)
    (tmp_path / "issue.json").write_text("{", encoding="utf-8")
    with pytest.raises(RecordingError, match=r"issue\.json"):
        measure_quantities(tmp_path)
    (tmp_path / "issue.json").write_text('{"rows": []}', encoding="utf-8")
    with pytest.raises(RecordingError, match="no rows"):
        measure_quantities(tmp_path)


def test_bench_measured_without_counters_is_named(tmp_path):
    """Where ncu may not read them, what needs them is not guessed."""
    for path in FILES:
        shutil.copy(path, tmp_path)
    bench = json.loads((RECORDED / "structs.json").read_text(encoding="utf-8"))
    bench["rows"] = [{**row, "counters": None} for row in bench["rows"]]
    (tmp_path / "structs.json").write_text(json.dumps(bench), encoding="utf-8")
    with pytest.raises(RecordingError, match=r"structs\.json.*ncu"):
        measure_quantities(tmp_path)


def test_device_without_limits_is_refused():
    """No table, no profile."""
    device = {"name": "Old", "compute_capability": "3.5", "sm_count": 15, "driver": "1"}
    with pytest.raises(ProfileError, match=r"3\.5"):
        profile_text(device, {"sm.clock": Measured(700, "MHz", "clock")}, "2026-01-01")


def test_noise_below_nothing_is_nothing():
    """A profile that states it would not load."""
    device = {"name": "New", "compute_capability": "9.0", "sm_count": 8, "driver": "1"}
    device |= {"memory_bytes": 1 << 30, "l2_bytes": 1 << 20}
    text = profile_text(device, {"barrier.base": Measured(-0.2, "cycles", "barrier")}, "2026-01-01")
    assert yaml.safe_load(text)["quantities"]["barrier.base"]["value"] == "0 cycles"


def test_a_device_on_which_copies_off_a_line_lose_nothing(tmp_path):
    """There is room for as many as were tried, and beyond they lose nothing either."""
    for path in FILES:
        shutil.copy(path, tmp_path)
    bench = json.loads((RECORDED / "alignment.json").read_text(encoding="utf-8"))
    for row in bench["rows"]:
        row["bytes_per_cycle_per_sm"], row["bytes_per_s"] = 18.0, 4.7e12
    (tmp_path / "alignment.json").write_text(json.dumps(bench), encoding="utf-8")
    found = measure_quantities(tmp_path)
    tma = [row for row in bench["rows"] if row["unit"] == "tma" and not row["offset"]]
    off_line = [row for row in tma if row["bytes"] % 128 and row["bytes"] % 32 == 0]
    most = max(row["bytes"] * row["outstanding"] * row["ctas"] for row in off_line)
    few, many = (found[f"tma.off_line_{amount}_under_way"].value * 2**20 for amount in ("few", "many"))
    assert 0.0 < few == many <= most
    assert found["l2.fabric_bandwidth"].value == pytest.approx(4.7)


def test_later_copies_get_ahead_by_what_the_first_comes_later(tmp_path):
    """Longest copies of two CTAs: the first arrives 2000 cycles after it asks alone, 2400 with another behind it."""
    for path in FILES:
        shutil.copy(path, tmp_path)
    bench = json.loads((RECORDED / "overtaking.json").read_text(encoding="utf-8"))
    for row in bench["rows"]:
        took = 2400 if row["ctas_per_sm"] == 2 and row["delay_cycles"] else 2000
        row["asked_cycles"], row["arrived_cycles"] = [100, 0, 0], [100 + took, 0, 0]
    (tmp_path / "overtaking.json").write_text(json.dumps(bench), encoding="utf-8")
    found = measure_quantities(tmp_path)["hbm.overtaking"]
    assert found.value == pytest.approx(400 / bench["clock_hz"] * 1e9)
    assert found.spread == pytest.approx(0.0)
