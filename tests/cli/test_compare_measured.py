"""``gpusim compare SCENARIO --measured FILE``: a timeline of one's own kernel against the prediction."""

import json
import re
import zipfile

import numpy as np
import pytest

from gpusim.scenario import load, predict
from gpusim.validation.recording import save_timeline

TECHNIQUE = "question: q\ndevice: h200_sxm\nkernel: {technique: sync_tile, params: {tile_bytes: 8192, grid: 132}}\n"


@pytest.fixture
def measure(path, tmp_path):
    """``measure(name, **meta)``: a file with the prediction as if it were measured, 2 % slower."""
    predicted = predict(load(path))
    file = tmp_path / "mine.npz"

    def save(name="run", **meta):
        total = {"source": "measured", "total_s": 1.02 * predicted.total_s, "overhead": 0.031, "device": "textbook"}
        save_timeline(file, name, predicted.with_meta(**{**total, **meta}))
        return file

    return save


@pytest.fixture
def compare(gpusim, path):
    """``compare(file, …)`` → exit code, stdout, stderr."""

    def call(file, *options, scenario=path):
        answer = gpusim("compare", scenario, "--measured", file, *options)
        assert "Traceback" not in answer[2]
        return answer

    return call


@pytest.fixture
def refused(compare):
    """The message with which a file is refused; it names the file."""

    def call(file, *options, **named):
        code, out, err = compare(file, *options, **named)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {file}: ")
        return err.removeprefix(f"error: {file}: ")

    return call


def test_errors_of_total_period_and_overlap_are_printed(compare, measure):
    """And that the time stamps cost something."""
    code, out, err = compare(measure())
    assert (code, err) == (0, "")
    for part in (
        "total",
        "-2.0%",
        "period per tile",
        "hidden fraction",
        "+0.000",
        "+3.1% longer",
        "verdict: total within",
    ):
        assert part in out


def test_every_time_has_its_unit(compare, measure):
    """Each row: what it is, both numbers, their difference."""
    rows = compare(measure())[1].splitlines()[2:]
    times = [row for row in rows if row.endswith("%") and "fraction" not in row]
    assert any(row.startswith("copy, mean") for row in times)
    assert all(len(re.findall(r"\d (?:ps|ns|us)\b", row)) == 2 for row in times)


def test_the_same_as_json(compare, measure):
    """One object, with the file and the timeline in it."""
    file = measure()
    code, out, _ = compare(file, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["measured"] == {"file": str(file), "timeline": "run", "overhead": 0.031}
    assert found["metrics"]["total_s"]["error"] == pytest.approx(1 / 1.02 - 1)
    assert {"period_s", "hidden_fraction"} <= set(found["metrics"])


def test_far_off_is_exit_code_one(compare, measure):
    """As with any recording."""
    code, out, _ = compare(measure(total_s=1.0))
    assert code == 1
    assert "verdict: total outside" in out


def test_one_of_several_is_named(compare, refused, measure):
    """Without a name the file says which it has; a name nearly right gets the right one."""
    measure("first")
    file = measure("second", total_s=1.0)
    assert compare(file, "--timeline", "first")[0] == 0
    assert "holds 2 timelines, choose one with --timeline NAME (it has first, second)" in refused(file)
    assert "no timeline 'secnd' in it (it has first, second). Did you mean 'second'?" in refused(
        file, "--timeline", "secnd"
    )


def test_a_device_by_its_driver_name_is_its_profile(path, measure, tmp_path, compare):
    """What a recording says is what the driver says."""
    scenario = tmp_path / "h200.yaml"
    scenario.write_text(path.read_text().replace("textbook", "h200_sxm"))
    code, out, err = compare(measure(device="NVIDIA H200"), scenario=scenario)
    assert (code in (0, 1), err) == (True, "")
    assert "total " in out


def test_a_file_without_a_device_is_taken_at_its_word(compare, measure):
    """Nobody can check it."""
    assert compare(measure(device=None))[0] == 0


@pytest.mark.parametrize(("meta", "message"), [
    ({"device": "NVIDIA H200"}, "timeline 'run' was measured on NVIDIA H200 (h200_sxm), the scenario is for textbook"),
    ({"source": "predicted"}, "timeline 'run' is not a measured one (its source is 'predicted')"),
    ({"total_s": None}, "timeline 'run' has no run time of the kernel (total_s is None, expected seconds)"),
    ({"total_s": 0.0}, "total_s is 0.0"),
    ({"overhead": "little"}, "timeline 'run' has 'little' as its overhead, expected a number"),
    ({"bytes_read": None}, "has None as its bytes_read"),
])  # fmt: skip
def test_a_foreign_timeline_is_refused(refused, measure, meta, message):
    """Measured elsewhere, not measured at all, or without a time."""
    assert message in refused(measure(**meta))


@pytest.mark.parametrize(("meta", "message"), [
    ({"technique": "three_role"}, "is of three_role, the scenario of sync_tile"),
    ({"technique": "sync_tile", "params": {"tile_bytes": 4096}}, "other parameters: tile_bytes=4096, "),
    ({"technique": "sync_tile", "params": [4096]}, "has parameters without names: [4096]"),
])  # fmt: skip
def test_a_timeline_of_another_technique_is_refused(refused, measure, tmp_path, meta, message):
    """Or of the same one with other parameters, which are named."""
    scenario = tmp_path / "technique.yaml"
    scenario.write_text(TECHNIQUE)
    assert message in refused(measure(device="NVIDIA H200", **meta), scenario=scenario)


def test_missing_file(refused, tmp_path):
    """By its name."""
    assert "there is no such recording" in refused(tmp_path / "nothing.npz")


def test_folder_instead_of_a_file(refused, tmp_path):
    """A message, no traceback."""
    assert "is a folder; expected a timeline file" in refused(tmp_path)


@pytest.mark.parametrize("kept", [0, 10, 200])
def test_truncated_file(refused, measure, kept):
    """Cut off anywhere."""
    file = measure()
    file.write_bytes(file.read_bytes()[:kept])
    assert ("truncated or not a timeline file" if kept else "is empty; expected") in refused(file)


def test_foreign_files(refused, tmp_path):
    """Text, JSON and arrays of somebody else."""
    text, other, arrays = (tmp_path / name for name in ("notes.txt", "trace.json", "arrays.npz"))
    text.write_text("a few words")
    other.write_text("{}")
    np.savez(arrays, a=np.arange(3))
    assert "truncated or not a timeline file" in refused(text)
    assert "lacks part 'meta', which names its timelines" in refused(arrays)
    assert 'expected an object with a list "traceEvents"' in refused(other)


@pytest.mark.parametrize(
    ("meta", "told"),
    [
        ("3", "expected an object with an entry for each timeline"),
        ("[]", "expected an object with an entry for each timeline"),
        ('{"run": 1}', "timeline 'run': expected lanes to be a list of names"),
        ('{"run": {"lanes": [], "meta": 1}}', "timeline 'run': expected meta to be an object"),
        ("{", "not JSON"),
    ],
)
def test_arrays_with_a_meta_of_their_own(refused, tmp_path, meta, told):
    """The name of an array is no proof; what is wrong with it is told."""
    file = tmp_path / "other.npz"
    np.savez(file, meta=np.frombuffer(meta.encode(), dtype=np.uint8))
    assert f"part 'meta' is damaged: {told}" in refused(file)


def test_part_of_a_file_that_is_damaged(refused, measure):
    """Of an archive that is whole: a column whose bytes are others."""
    file = measure()
    whole, content = zipfile.ZipFile(file), bytearray(file.read_bytes())
    at = whole.getinfo("run.start_s.npy").header_offset
    content[at + 60 : at + 70] = bytes(10)
    file.write_bytes(content)
    assert "part 'run.start_s' is damaged" in refused(file)


def test_file_with_a_column_missing(refused, measure):
    """Named."""
    file = measure()
    with np.load(file) as found:
        arrays = {name: found[name] for name in found.files if name != "run.stage"}
    np.savez(file, **arrays)
    assert "timeline 'run' lacks column 'run.stage'" in refused(file)


def test_a_name_without_a_file(gpusim, path):
    """Says what belongs together."""
    code, _, err = gpusim("compare", path, "--timeline", "run")
    assert code == 2
    assert "say which with --measured FILE" in err


def test_a_total_is_enough(gpusim, path):
    """With its unit; no file has to be made of it."""
    predicted = predict(load(path)).total_s
    code, out, _ = gpusim("compare", path, "--total", f"{1.02e6 * predicted}us", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["metrics"]["total_s"]["error"] == pytest.approx(1 / 1.02 - 1)
    assert gpusim("compare", path, "--total", f"{2e6 * predicted}us")[0] == 1


@pytest.mark.parametrize(("options", "message"), [
    (["--total", "0.4"], r"--total: '0.4' has no unit \(allowed: s, ms, us"),
    (["--total", "0ms"], "--total: '0ms' is not a time greater than zero"),
    (["--total", "4 KiB"], "--total: '4 KiB' is a "),
    (["--total", "1ms", "--measured", "x"], "exclude each other"),
    (["--total", "1ms", "--timeline", "x"], "--total has none"),
])  # fmt: skip
def test_a_total_that_is_none_is_refused(gpusim, path, options, message):
    code, out, err = gpusim("compare", path, *options)
    assert (code, out) == (2, "")
    assert re.match(f"error: .*{message}", err)


def test_compare_without_a_recording_is_an_error(gpusim, path):
    """Saying why there is none."""
    code, _, err = gpusim("compare", path)
    assert code == 2
    assert "no real kernel" in err


def test_what_was_not_recorded_can_be_told(gpusim, path):
    """A time alone, or a file."""
    code, out, err = gpusim("compare", path)
    assert (code, out) == (2, "")
    assert "give yours with --total TIME or --measured FILE" in err.replace("\n", " ")
