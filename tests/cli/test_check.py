"""``check``: what is wrong with files, and what is doubtful."""

import json
import re
from pathlib import Path

PIPELINING = Path(__file__).resolve().parents[2] / "scenarios" / "software_pipelining.yaml"


def test_check_tells_of_every_file_what_is_wrong(gpusim, path, tmp_path):
    """Deadlocks too, which only a run finds; one wrong file makes the exit code."""
    text = path.read_text(encoding="utf-8")
    assert "{release: input}" in text
    stuck, odd = tmp_path / "stuck.yaml", tmp_path / "odd.yaml"
    stuck.write_text(text.replace(", {release: input}", ""), encoding="utf-8")
    odd.write_text("question: q\nkernel: 3\x1b\n", encoding="utf-8")
    code, out, err = gpusim("check", path, stuck, odd)
    assert (code, out) == (2, f"{path}: fine\n")
    assert re.search(r"error: .*deadlock", err)
    assert f"error: {odd}" in err
    assert "\x1b" not in err
    assert gpusim("check", path)[0] == 0
    code, out, _ = gpusim("check", path, stuck, "--json")
    first, second = json.loads(out)["files"]
    assert (code, first) == (2, {"file": str(path), "error": None, "doubts": [], "points": 3, "points_run": 3})
    assert "deadlock" in second["error"]


def test_folder_stands_for_the_scenario_files_in_it(gpusim, path, tmp_path):
    """In the order of their names; one without any is an error, as it is for the other commands."""
    other, empty = tmp_path / "a.yaml", tmp_path / "empty"
    other.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "schema.json").write_text("{}")
    assert gpusim("check", tmp_path) == (0, f"{other}: fine\n{path}: fine\n", "")
    empty.mkdir()
    code, out, err = gpusim("check", empty)
    assert (code, out) == (2, "")
    assert err == f"error: {empty}: holds no scenario file (allowed: a folder with .yaml files in it)\n"


def test_check_makes_the_points_of_the_sweep(gpusim, path):
    """Those that cannot be made are told where they stand."""
    text = path.read_text(encoding="utf-8").replace("stages: [1, 2, 3]", "stages: [1, 2, 60, 99]")
    path.write_text(text, encoding="utf-8")
    code, out, err = gpusim("check", path)
    assert (code, out) == (2, "")
    assert f"error: {path}:10:47: sweep.kernel.rings.input.stages.3: 99 is not possible" in err


def test_check_runs_the_points_of_the_sweep(gpusim, path):
    """What does not fit, deadlocks or has a hazard is told with its point; points that fail alike once."""
    text = path.read_text(encoding="utf-8")
    axes = "kernel.rings.input.stages: [1, 60, 2], kernel.grid: [8, 16]"
    path.write_text(text.replace("kernel.rings.input.stages: [1, 2, 3]", axes), encoding="utf-8")
    code, out, err = gpusim("check", path)
    assert (code, out) == (2, "")
    told = "with kernel.rings.input.stages=60, kernel.grid=8 (as 1 more point): kernel needs 960.9"
    assert told in err.replace("\n", " ")
    waits = "kernel.roles.consumer.per_tile.0.wait: [input, {ring: input, ahead: 4}]"
    path.write_text(text.replace("kernel.rings.input.stages: [1, 2, 3]", waits), encoding="utf-8")
    code, _, err = gpusim("check", path)
    assert code == 2
    assert "with kernel.roles.consumer.per_tile.0.wait=" in err
    assert "deadlock" in err


def test_check_says_how_many_points_it_ran(gpusim, path):
    """Of many some dozens, with every value of every axis among them."""
    text = path.read_text(encoding="utf-8")
    axes = f"kernel.tiles_per_cta: {list(range(1, 21))}, kernel.rings.input.stages: [1, 2, 3, 4, 60]"
    path.write_text(text.replace("kernel.rings.input.stages: [1, 2, 3]", axes), encoding="utf-8")
    code, out, err = gpusim("check", path)
    assert code == 2
    assert out == f"{path}: 48 of the 100 points of its sweep were run\n"
    assert "input.stages=60" in err
    path.write_text(path.read_text(encoding="utf-8").replace(", 60]", ", 5]"), encoding="utf-8")
    assert gpusim("check", path) == (0, f"{path}: fine; 48 of the 100 points of its sweep were run\n", "")


def test_doubts_are_told_and_are_no_error(gpusim, tmp_path):
    """By ``check``, ``run`` and both as JSON."""
    text = PIPELINING.read_text(encoding="utf-8")
    path = tmp_path / "doubtful.yaml"
    path.write_text(re.sub(r"^ *- sync_threads.*\n", "", text, flags=re.MULTILINE), encoding="utf-8")
    code, out, err = gpusim("check", path)
    assert (code, err) == (0, "")
    assert out.startswith(f"{path}: doubtful: role ")
    assert "fine" not in out
    assert "doubtful: role " in gpusim("run", path)[1]
    assert "sync_threads" in json.loads(gpusim("run", path, "--json")[1])["doubts"][0]
    assert "sync_threads" in json.loads(gpusim("check", path, "--json")[1])["files"][0]["doubts"][0]
