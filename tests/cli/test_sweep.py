"""``sweep``: the ranking of the points, and the file they go into."""

from pathlib import Path

import pytest

FUSED = Path(__file__).resolve().parents[2] / "scenarios" / "fused_softmax.yaml"


def test_sweep_ranks(answer, path):
    """By time; comma lists replace the file's axes."""
    found = answer("sweep", path)
    assert len(found["points"]) == 3
    totals = {point["index"]: point["total_s"] for point in found["points"]}
    assert [totals[index] for index in found["ranked"]] == sorted(totals.values())
    assert found["best"]["index"] == found["ranked"][0]
    assert len(answer("sweep", path, "--set", "kernel.rings.input.stages=2,4")["points"]) == 2
    assert len(answer("sweep", path, "--set", "kernel.grid=8,16")["points"]) == 6


def test_a_single_override_pins_its_axis(gpusim, answer, path):
    """The others stay; a device named on the command line is the same place as an axis `device`."""
    tiles = "kernel.tiles_per_cta=12,48"
    found = answer("sweep", path, "--set", "kernel.rings.input.stages=2", "--set", tiles)
    assert [point["point"] for point in found["points"]] == [{"kernel.tiles_per_cta": 12}, {"kernel.tiles_per_cta": 48}]
    assert found["scenario"]["kernel"]["rings"]["input"]["stages"] == 2
    text = path.read_text()
    path.write_text(text.replace("sweep: {", "sweep: {device: [textbook, h100_sxm], "))
    found = answer("sweep", path, "--device", "h200_sxm")
    assert found["device"] == "h200_sxm"
    assert [point["point"] for point in found["points"]] == [{"kernel.rings.input.stages": n} for n in (1, 2, 3)]
    chosen = "[{kernel.rings.input.stages: 1, kernel.grid: 8}, {kernel.rings.input.stages: 2, kernel.grid: 8}]"
    path.write_text(text.partition("sweep:")[0] + f"sweep: {chosen}\n")
    found = answer("sweep", path, "--set", "kernel.rings.input.stages=3")
    assert [point["point"] for point in found["points"]] == [{"kernel.grid": 8}]
    assert "pins" in gpusim("sweep", "--help")[1]


def test_an_override_that_could_not_hold_is_an_error(gpusim, path):
    """Because nothing is left to sweep, or because every point replaces it."""
    code, out, err = gpusim("sweep", path, "--set", "kernel.rings.input.stages=2")
    assert (code, out) == (2, "")
    assert f"{path}: nothing is left to sweep: --set kernel.rings.input.stages sets every axis" in err
    path.write_text(path.read_text().replace("sweep: {", "sweep: {device: [textbook, h100_sxm], "))
    code, _, err = gpusim("sweep", path, "--set", "device.set.hbm.read_bandwidth=4 TB/s")
    assert code == 2
    assert "--set device.set.hbm.read_bandwidth would be lost: the sweep sets all of device at every point" in err


def test_what_to_sweep_is_told_by_what_there_is(gpusim, path):
    """Parameters where there is a technique, rings or calls where it is spelled out."""
    for file in (path, *(FUSED.with_name(f"{name}.yaml") for name in ("stages", "own_streams", "fused_softmax"))):
        text = file.read_text().partition("sweep:")[0]
        path.write_text(text)
        code, _, err = gpusim("sweep", path)
        assert code == 2
        axis = err.rpartition("--set ")[2].strip()
        assert ("kernel.params" in axis) == (file.stem == "stages")
        assert gpusim("sweep", path, "--set", axis, "--top", "1")[0] == 0


def test_points_of_unlike_work_have_no_best(gpusim, answer, path):
    """Twice the tiles take longer and are no worse for it; it is said, and what was done in a second is shown."""
    path.write_text(path.read_text().partition("sweep:")[0])
    found = answer("sweep", path, "--set", "kernel.tiles_per_cta=12,48")
    few, many = found["points"]
    assert few["total_s"] < many["total_s"] < 4 * few["total_s"]
    assert found["ranked"] == [1, 0]
    assert found["ranked_by"] == "total_s per FLOP"
    assert many["work"]["flop"] == 4 * few["work"]["flop"]
    assert found["best"] is None
    assert (found["work_axes"], found["levers"]) == (["kernel.tiles_per_cta"], [])
    assert [group["ranked"] for group in found["groups"]] == [[0], [1]]
    assert found["groups"][0]["median_longer"] is found["one_for_all"] is None
    out = gpusim("sweep", path, "--set", "kernel.tiles_per_cta=12,48")[1]
    assert (
        "not the same work: FLOPs differ with kernel.tiles_per_cta; every axis changes the work, so that no point is "
        "better than another; the rate says how much is done in a second, not what is better"
    ) in out
    assert "FLOP/s" in out
    assert "median" not in out
    assert "not the same work" not in gpusim("sweep", path, "--set", "kernel.rings.input.stages=2,4")[1]


def test_best_of_each_amount_of_work(gpusim, answer, path):
    """The file's own axis, stages, changes none."""
    tiles = ("--set", "kernel.tiles_per_cta=12,48")
    found = answer("sweep", path, *tiles)
    assert (found["work_axes"], found["levers"]) == (["kernel.tiles_per_cta"], ["kernel.rings.input.stages"])
    points = {point["index"]: point for point in found["points"]}
    for group in found["groups"]:
        totals = [points[index]["total_s"] for index in group["ranked"]]
        assert len(totals) == 3
        assert totals == sorted(totals)
        assert {points[index]["point"]["kernel.tiles_per_cta"] for index in group["ranked"]} == set(
            group["setting"].values()
        )
        assert group["worst_longer"] == totals[-1] / totals[0] - 1
        assert group["median_longer"] == totals[1] / totals[0] - 1
    assert set(found["one_for_all"]["setting"]) == {"kernel.rings.input.stages"}
    code, out, _ = gpusim("sweep", path, *tiles, "--overlap", "--top", "1")
    assert code == 0
    for part in ("best input.stages", "of points", "hidden", "… and 1 more", "one setting for all: input.stages="):
        assert part in out


def test_sweep_prints_its_table(gpusim, path):
    """The best first."""
    code, out, _ = gpusim("sweep", path, "--overlap", "--top", "2")
    assert code == 0
    assert "1.000x" in out
    assert "… and 1 more" in out


def test_sweep_without_axes_is_an_error(gpusim, path):
    """With what to do."""
    path.write_text(path.read_text().partition("sweep:")[0])
    code, _, err = gpusim("sweep", path)
    assert code == 2
    assert "nothing to sweep" in err


def test_points_that_do_not_fit_are_told_once(gpusim, path):
    """Beside the ranking of the others."""
    code, out, _ = gpusim("sweep", path, "--set", "kernel.rings.input.stages=2,40,50")
    assert code == 0
    assert "not input.stages=40: kernel needs" in out


def test_sweep_of_nothing_that_runs_is_an_error(gpusim, path):
    """With the first reason."""
    code, _, err = gpusim("sweep", path, "--set", "kernel.rings.input.stages=40,50")
    assert code == 2
    assert f"{path}: no point of the sweep can run" in err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"metrics": {', '"metrics": 3, "m": {'),
        ('"total_s": ', '"total_s": "x", "y": '),
        ('"work": {', '"work": 3, "w": {'),
        ('"error": ""', '"error": 4'),
    ],
)
def test_damaged_rows_of_a_sweep_are_predicted_again(answer, path, tmp_path, old, new):
    """What else they may be, it is no result."""
    file = tmp_path / "points.jsonl"
    first = answer("sweep", path, "-o", file)
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    assert answer("sweep", path, "-o", file) == first
    assert len(file.read_text().splitlines()) == 6


def test_sweep_makes_no_folders(gpusim, path, tmp_path):
    """One that is not there is misspelled."""
    code, out, err = gpusim("sweep", path, "-o", tmp_path / "not" / "points.jsonl")
    assert (code, out) == (2, "")
    assert f"there is no folder {tmp_path / 'not'}" in err.replace("\n", "")
    assert not (tmp_path / "not").exists()


def test_sweep_writes_into_no_file_of_something_else(gpusim, path, tmp_path):
    """It would be appended to; a file of its own is, even one cut off in its first line."""
    other = tmp_path / "other"
    other.write_bytes(b"\x00\xff not a sweep")
    code, out, err = gpusim("sweep", path, "-o", other)
    assert (code, out) == (2, "")
    assert "other: holds something else than the points of a sweep" in err
    assert other.read_bytes() == b"\x00\xff not a sweep"
    for begun in (b"", b'{"ke', b'{"key": "abc'):
        other.write_bytes(begun)
        assert gpusim("sweep", path, "-o", other)[0] == 0
        assert len(other.read_bytes().splitlines()) == 3 + bool(begun)


def test_kernels_that_are_fused_are_compared_by_time(answer):
    """What separate kernels write and read again is no work: they take as many times as long as they take longer."""
    axes = "kernel.params.rows_per_cta=4,16", "kernel.params.variant=fused,separate"
    found = answer("sweep", FUSED, "--set", axes[0], "--set", axes[1])
    works = {tuple(point["work"].items()) for point in found["points"]}
    assert len(found["points"]) == 2 * len(works) == 4
