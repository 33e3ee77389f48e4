"""Where the host's numbers come from."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from gpusim.errors import RecordingError
from gpusim.hardware.calibration.profile_file import write_profile
from gpusim.hardware.profile import HOST_GROUPS, load_profile
from gpusim.host.calibration.profile_file import host_profile, write_host_profile
from realkernels import microbench

ALL = Path(microbench.__file__).parent / "recorded"
RECORDED = ALL / "h200_sxm"
PROFILES = Path(load_profile.__code__.co_filename).parent / "profiles" / "host"


@pytest.mark.parametrize("name", ["h200_sxm", "h100_sxm"])
def test_committed_host_profile_follows_from_the_recorded_benches(name):
    """Nobody edits it by hand; a digit of difference means that a bench or a rule has changed since."""
    text = host_profile(ALL / name, load_profile(name))
    assert text == (PROFILES / f"{name}.yaml").read_text(encoding="utf-8")


def test_textbook_has_every_quantity_of_a_measured_device():
    """So that a program that runs on one runs on the other."""
    measured, textbook = (load_profile(name).quantities for name in ("h200_sxm", "textbook"))
    host = [key for key in measured if key.split(".")[0] in HOST_GROUPS]
    assert len(host) > 60
    assert not [key for key in host if key not in textbook]


@pytest.mark.parametrize("key", ["copy.h2d_bandwidth", "stream.retry", "host.cupy.launch", "alloc.device"])
def test_measured_quantities_name_their_bench(key):
    quantity = load_profile("h200_sxm").quantities[key]
    assert quantity.kind == "measured"
    assert quantity.source.startswith("realkernels.microbench.host ")


def test_calibration_writes_the_host_file_beside_the_profile(tmp_path):
    """The same numbers as the committed one, found again by the profile's name."""
    write_profile(RECORDED, tmp_path / "mine.yaml")
    path = write_host_profile(RECORDED, tmp_path / "mine.yaml")
    assert path == tmp_path / "host" / "mine.yaml"
    assert path.read_text(encoding="utf-8") == (PROFILES / "h200_sxm.yaml").read_text(encoding="utf-8")


def test_a_host_whose_benches_saw_less_has_every_quantity_all_the_same():
    """One run, from before there were rows about queues: what they would say is assumed."""
    text = host_profile(RECORDED / "host" / "2026-11-24_5", load_profile("h200_sxm"))
    found, committed = (_quantities(each) for each in (text, (PROFILES / "h200_sxm.yaml").read_text(encoding="utf-8")))
    assert found.keys() == committed.keys()
    assert found["copy.channels"]["kind"] == "assumed"


def test_copies_beside_kernels_say_what_a_copy_within_the_device_is(tmp_path):
    """One that takes 100 us: it starts where 512 threads are free and not where 448 are, and has 5/6 with half of them.

    Where the bench has no such rows that is assumed.
    """
    folder = shutil.copytree(max((RECORDED / "host").iterdir()), tmp_path / "run")
    document = json.loads((folder / "host_copies.json").read_text(encoding="utf-8"))
    beside = {"kind": "copy_beside", "bytes": 256 << 20}
    document["rows"] = [row for row in document["rows"] if row["kind"] != "copy_beside"]
    (folder / "host_copies.json").write_text(json.dumps(document), encoding="utf-8")
    before = _quantities(host_profile(folder, load_profile("h200_sxm")))
    document["rows"] += [{**beside, "first": "copy", "first_s": 100e-6}]
    document["rows"] += [
        {**beside, "first": "spin", "second": "copy", "kernel_s": 400e-6, "free_threads": free, "sm_threads": 2048,
         "second_s": end_us * 1e-6}
        for free, end_us in ((1536, 101), (1024, 120), (512, 450), (448, 499), (0, 501))
    ]  # fmt: skip
    (folder / "host_copies.json").write_text(json.dumps(document), encoding="utf-8")
    found = _quantities(host_profile(folder, load_profile("h200_sxm")))
    assert before["copy.d2d_threads"]["kind"] == "assumed"
    assert found["copy.d2d_threads"]["kind"] == "measured"
    assert (found["copy.d2d_threads"]["value"], found["copy.d2d_enough"]["value"]) == (512, 0.6)


MEMSETS = ("copy.memset_bandwidth", "copy.memset_overhead", "host.cuda.memset_async", "host.cupy.memset_async")


def test_memsets_are_measured_by_the_runs_that_have_rows_of_them(tmp_path):
    """Of two runs one: 2 us and 4 TB/s on the device, calls of 1.25 and 0.75 us; without such rows all is assumed."""
    run = max((RECORDED / "host").iterdir())
    folders = [shutil.copytree(run, tmp_path / "host" / name) for name in ("1", "2")]
    for folder in folders:
        _rewrite(folder / "host_copies.json", lambda row: row.get("direction") != "memset")
        for bench in ("calls", "cpp"):
            _rewrite(folder / f"host_{bench}.json", lambda row: row.get("call") != "memset_async")
    before = _quantities(host_profile(tmp_path, load_profile("h200_sxm")))
    sizes = [4 << 10, 64 << 10, 1 << 20, 64 << 20, 1 << 30]
    device = [{"kind": "size", "direction": "memset", "bytes": n, "seconds": 2e-6 + n / 4e12} for n in sizes]
    call = {"call": "memset_async", "state": "busy", "bytes": 1 << 20}
    _rewrite(folders[1] / "host_copies.json", more=device)
    _rewrite(folders[1] / "host_calls.json", more=[{**call, "row_s": 1.25e-6}])
    _rewrite(folders[1] / "host_cpp.json", more=[{**call, "median_s": 0.75e-6}])
    after = _quantities(host_profile(tmp_path, load_profile("h200_sxm")))
    assert {before[key]["kind"] for key in MEMSETS} == {"assumed"}
    assert {after[key]["kind"] for key in MEMSETS} == {"measured"}
    assert [after[key]["value"] for key in MEMSETS] == ["4000 GB/s", "2 us", "0.75 us", "1.25 us"]
    assert {key: entry for key, entry in before.items() if key not in MEMSETS} == {
        key: entry for key, entry in after.items() if key not in MEMSETS
    }


def _rewrite(path, keep=lambda _row: True, more=()):
    document = json.loads(path.read_text(encoding="utf-8"))
    document["rows"] = [*filter(keep, document["rows"]), *more]
    path.write_text(json.dumps(document), encoding="utf-8")


def _quantities(text):
    return yaml.safe_load(text)["quantities"]


def test_a_missing_bench_is_named(tmp_path):
    write_profile(RECORDED, tmp_path / "mine.yaml")
    with pytest.raises(RecordingError, match="cannot read the microbenchmark result"):
        write_host_profile(tmp_path, tmp_path / "mine.yaml")


def test_only_host_predictions_list_assumed_host_quantities():
    """A kernel does not depend on what a call costs."""
    profile = load_profile("a100_sxm")
    assert not [key for key in profile.assumed if key.split(".")[0] in HOST_GROUPS]
    assert "host.cupy.launch" in profile.assumed_with_host
    assert set(profile.assumed) < set(profile.assumed_with_host)
