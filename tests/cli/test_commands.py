"""Every command: its exit code, and one JSON object where it is asked for."""

import csv
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from gpusim.hardware.profile import profile_text
from gpusim.scenario import load
from gpusim.timeline import TimelineBuilder
from gpusim.validation import RecordedCase, accuracy, compare_timelines, measurement_of
from gpusim.validation.markdown import accuracy_table, summary_cells

STAGES = Path(__file__).resolve().parents[2] / "scenarios" / "stages.yaml"


@pytest.fixture
def answer(gpusim):
    """The JSON object that a command prints."""

    def call(*arguments):
        code, out, err = gpusim(*arguments, "--json")
        assert (code, err) == (0, "")
        assert len(out.splitlines()) == 1
        return json.loads(out)

    return call


def test_run_tells_all_that_is_promised(answer, path):
    """The keys that scripts rely on."""
    found = answer("run", path)
    assert {"scenario", "device", "predicted", "lanes"} <= set(found)
    promised = {"total_s", "hidden_fraction", "exposed_s", "speedup_vs_serial", "bottleneck", "occupancy", "period_s"}
    assert promised <= set(found["predicted"])
    assert found["device"] == "textbook"
    assert found["predicted"]["total_s"] > 0
    assert "sm[0].cta[0].consumer" in found["lanes"]


def test_run_reads_well(gpusim, path):
    """For people, without a JSON in sight."""
    code, out, err = gpusim("run", path)
    assert (code, err) == (0, "")
    for part in ("How many stages?", "total", "hidden fraction", "bottleneck", "limited by"):
        assert part in out


def test_run_says_that_the_grid_fills_no_sm(gpusim, path):
    """More would find room than there are."""
    _, out, _ = gpusim("run", path, "--no-advice")
    assert "CTAs per SM: 1 by the grid; 4 would fit, limited by shared memory" in out


def test_run_leaves_out_what_says_nothing(gpusim, tmp_path):
    """Of a kernel without copies: no period, nothing exposed or hidden, no comparison with itself."""
    file = tmp_path / "plain.yaml"
    text = (
        "question: q\ndevice: textbook\nkernel: {grid: 8, tiles_per_cta: 1, roles: {all: {warps: 1, per_tile: [%s]}}}"
    )
    file.write_text(text % "{compute: {ffma: 64}}")
    _, out, _ = gpusim("run", file, "--no-advice")
    assert "total" in out
    for part in ("period", "hidden", "exposed", "without overlap", "–"):
        assert part not in out


def test_run_says_how_much_is_assumed_of_a_device_that_was_not_measured(gpusim):
    """Not by dozens of names; the few of a measured one are told."""
    scenario = "scenarios/register_prefetch.yaml"
    _, out, _ = gpusim("run", scenario, "--no-advice", "--device", "a100_sxm")
    (line,) = (line for line in out.splitlines() if "assumed" in line)
    assert re.fullmatch(r"assumed quantities: \d\d; `gpusim devices a100_sxm` tells which", line)
    _, out, _ = gpusim("run", scenario, "--no-advice", "--device", "h100_sxm")
    assert "tells which" not in out


def test_run_says_that_fewer_ctas_fit_than_were_asked_for(gpusim, path):
    """And that its rate of loads holds hits in L2."""
    _, out, _ = gpusim("run", path, "--no-advice", "--set", "kernel.ctas_per_sm=9")
    assert "4 CTAs per SM, limited by shared memory; ctas_per_sm: 9 asks for more than fit" in out
    assert "memory traffic, hits in L2 included: " in out
    out = gpusim("run", path, "--no-advice", "--set", "kernel.ctas_per_sm=2")[1]
    assert "2 would fit, limited by the scenario's ctas_per_sm\n" in out


def test_run_advises(answer, gpusim, path):
    """Levers, roofline and verdict as data, and for people the options that give the best change."""
    single = ("--set", "kernel.rings.input.stages=1", "--set", "kernel.grid=132")
    advice = answer("run", path, *single)["advice"]
    assert {"levers", "roofline", "verdict"} <= set(advice)
    assert advice["levers"][0]["gain"] > 0.02
    assert advice["best"] in advice["verdict"]
    _, out, _ = gpusim("run", path, *single)
    for part in ("roofline:", "stages 1 → 2", "advice: Change", "try it: --set "):
        assert part in out


def test_run_without_advice(answer, gpusim, path):
    """One prediction and its baseline, nothing more."""
    assert "advice" not in answer("run", path, "--no-advice")
    assert "advice" not in gpusim("run", path, "--no-advice")[1]


def test_resolved_scenario_can_be_run_again(answer, path, tmp_path):
    """What a result carries is a scenario."""
    first = answer("run", path)
    again = tmp_path / "again.yaml"
    again.write_text(yaml.safe_dump(first["scenario"]))
    assert answer("run", again)["predicted"] == first["predicted"]


def test_set_changes_the_scenario(answer, path):
    """And shows in the resolved one."""
    found = answer("run", path, "--set", "kernel.rings.input.stages=1", "--set", "device.set.sm.clock=2 GHz")
    assert found["scenario"]["kernel"]["rings"]["input"]["stages"] == 1
    assert found["scenario"]["device"]["set"] == {"sm.clock": "2 GHz"}


def test_device_option_replaces_only_the_device(answer, path):
    """Changed quantities stay."""
    path.write_text(path.read_text().replace("device: textbook", "device: {base: nowhere, set: {sm.clock: 2 GHz}}"))
    assert answer("run", path, "--device", "textbook")["scenario"]["device"] == {
        "base": "textbook", "set": {"sm.clock": "2 GHz"},
    }  # fmt: skip


def test_exact_agrees_with_extrapolated(answer, path):
    """Within 0.1 %."""
    long = ("--set", "kernel.tiles_per_cta=300")
    exact = answer("run", path, *long, "--exact")["predicted"]
    assert answer("run", path, *long)["predicted"]["total_s"] == pytest.approx(exact["total_s"], rel=1e-3)


def test_sweep_ranks(answer, path):
    """By time; comma lists replace the file's axes."""
    found = answer("sweep", path)
    assert len(found["points"]) == 3
    totals = {point["index"]: point["total_s"] for point in found["points"]}
    assert [totals[index] for index in found["ranked"]] == sorted(totals.values())
    assert found["best"]["index"] == found["ranked"][0]
    assert len(answer("sweep", path, "--set", "kernel.rings.input.stages=2,4")["points"]) == 2
    assert len(answer("sweep", path, "--set", "kernel.grid=8,16")["points"]) == 6


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


def test_compare_without_a_recording_is_an_error(gpusim, path):
    """Saying why there is none."""
    code, _, err = gpusim("compare", path)
    assert code == 2
    assert "no real kernel" in err


def test_export_chrome_json(answer, path, tmp_path):
    """One complete event per interval, named lanes, microseconds."""
    file = tmp_path / "trace.json"
    told = answer("export", path, file)
    trace = json.loads(file.read_text())
    complete = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(complete) == told["intervals"]["predicted"]
    assert all(event["dur"] >= 0 for event in complete)
    names = {event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    assert "sm[0].cta[0].producer" in names


def test_export_csv(gpusim, path, tmp_path):
    """Times survive exactly."""
    file = tmp_path / "trace.csv"
    assert gpusim("export", path, file)[0] == 0
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert rows[0]["timeline"] == "predicted"
    assert all(float(row["end_s"]) >= float(row["start_s"]) for row in rows)


def test_export_to_an_unknown_format_is_an_error(gpusim, path, tmp_path):
    """Naming the ones there are."""
    code, _, err = gpusim("export", path, tmp_path / "trace.xls")
    assert code == 2
    assert ".json, .csv" in err


@pytest.mark.parametrize("command", ["techniques", "devices", "doctor", "schema"])
def test_lists_are_json_too(answer, command):
    """One object each."""
    assert answer(command)


def test_device_shows_every_quantity_with_its_source(answer, gpusim):
    """Nothing without a source."""
    quantities = answer("devices", "textbook")["quantities"]
    assert all(quantity["source"] for quantity in quantities.values())
    assert "sm.clock" in gpusim("devices", "textbook")[1]
    code, _, err = gpusim("devices", "textbok")
    assert code == 2
    assert "textbook" in err


@pytest.mark.parametrize(
    "command", [("measure", "SCENARIO"), ("calibrate", "mine"), ("calibrate", "mine", "--host-of", "h200_sxm")]
)
def test_measuring_without_a_gpu_says_what_is_missing(gpusim, path, monkeypatch, command):
    """And what to do."""
    monkeypatch.setattr("gpusim.cli.gpu_commands.gpu_names", lambda: ([], ""))
    path.write_text("question: q\ndevice: textbook\nkernel: {technique: sync_tile}\n")
    code, _, err = gpusim(*(path if part == "SCENARIO" else part for part in command))
    assert code == 2
    assert "needs an NVIDIA GPU" in err


def test_measuring_a_spelled_kernel_is_an_error(gpusim, path):
    """There is no CUDA behind it."""
    code, _, err = gpusim("measure", path)
    assert code == 2
    assert "a spelled-out kernel has no real kernel behind it; use a technique" in err
    path.write_text("question: q\ndevice: textbook\nhost: {threads: {main: {per_chunk: [{h2d: 4}]}}}\n")
    assert "a spelled-out host program has no real program behind it" in gpusim("measure", path)[2]


def test_wrong_usage_is_exit_code_two(gpusim):
    """On stderr, as all errors."""
    for arguments in (("run",), ("nonsense",), ("run", "x.yaml", "--nonsense")):
        code, out, err = gpusim(*arguments)
        assert (code, out) == (2, "")
        assert err


def test_version(gpusim):
    """One line."""
    assert gpusim("--version")[1].startswith("gpusim ")


def test_help_imports_no_numpy():
    """Commands import what they need, so help is quick."""
    import subprocess
    import sys

    code = (
        "import sys, gpusim.cli; sys.exit(any(name in sys.modules for name in ('numpy', 'pydantic', 'simpy', 'dash')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_points_that_do_not_fit_are_told_once(gpusim, path):
    """Beside the ranking of the others."""
    code, out, _ = gpusim("sweep", path, "--set", "kernel.rings.input.stages=2,40,50")
    assert code == 0
    assert "not input.stages=40: kernel needs" in out


def test_sweep_of_nothing_that_runs_is_an_error(gpusim, path):
    """With the first reason."""
    code, _, err = gpusim("sweep", path, "--set", "kernel.rings.input.stages=40,50")
    assert code == 2
    assert "no point of the sweep can run" in err


def test_measuring_a_sweep_measures_every_point(gpusim, path, monkeypatch):
    """With a GPU that is made up; the rows are those of the plug-in."""
    measured = []

    def measure_one(technique, params, timeline, record):
        measured.append((technique.name, params.ctas_per_sm, timeline, record))
        return SimpleNamespace(total_s=1e-5, iqr_s=1e-7, repeats=15)

    monkeypatch.setattr("gpusim.cli.gpu_commands._require_gpu", lambda: None)
    monkeypatch.setattr("gpusim.cli.gpu_commands._plugin", lambda group: measure_one)
    path.write_text(
        "question: q\ndevice: textbook\nkernel: {technique: sync_tile}\nsweep: {kernel.params.ctas_per_sm: [1, 2]}\n"
    )
    code, out, _ = gpusim("measure", path, "--sweep", "--no-timeline", "--no-record")
    assert code == 0
    assert measured == [("sync_tile", 1, False, False), ("sync_tile", 2, False, False)]
    assert "not recorded" in out
    assert out.count("10 us, quartiles 1.0% apart, 15 runs") == 2


def test_measuring_again_says_what_has_changed(gpusim, path, monkeypatch):
    """Against the run time that was recorded for the same parameters."""
    row = SimpleNamespace(total_s=1e-3, iqr_s=1e-7, repeats=15)
    monkeypatch.setattr("gpusim.cli.gpu_commands._require_gpu", lambda: None)
    monkeypatch.setattr("gpusim.cli.gpu_commands._plugin", lambda group: lambda technique, params, **how: row)
    before = measurement_of(load(STAGES)).total_s
    code, out, _ = gpusim("measure", STAGES, "--record")
    assert code == 0
    assert f"recorded before: {before * 1e6:.4g} us, {1e-3 / before - 1.0:+.1%}" in " ".join(out.split())


def test_kernel_that_cannot_be_measured_is_an_error(gpusim, path, monkeypatch):
    """With what the compiler or the driver says."""

    def measure_one(technique, params, timeline, record):
        raise RuntimeError("3 CTAs fit on an SM, not 4")

    monkeypatch.setattr("gpusim.cli.gpu_commands._require_gpu", lambda: None)
    monkeypatch.setattr("gpusim.cli.gpu_commands._plugin", lambda group: measure_one)
    path.write_text("question: q\ndevice: textbook\nkernel: {technique: sync_tile}\n")
    code, _, err = gpusim("measure", path)
    assert code == 2
    assert "could not be measured: 3 CTAs fit" in err


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
    assert (code, first) == (2, {"file": str(path), "error": None, "doubts": []})
    assert "deadlock" in second["error"]


def test_check_makes_the_points_of_the_sweep(gpusim, path):
    """None of them is run; those that cannot be made are told where they stand."""
    text = path.read_text(encoding="utf-8").replace("stages: [1, 2, 3]", "stages: [1, 2, 60, 99]")
    path.write_text(text, encoding="utf-8")
    code, out, err = gpusim("check", path)
    assert (code, out) == (2, "")
    assert f"error: {path}:10:47: sweep.kernel.rings.input.stages.3: 99 is not possible" in err
    path.write_text(text.replace(", 99", ""), encoding="utf-8")
    assert gpusim("check", path)[0] == 0


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


def test_report_looks_for_its_folder_first(gpusim, tmp_path, monkeypatch):
    """And for what it is to write into: the comparison takes minutes."""
    monkeypatch.setattr("gpusim.cli.report_command.all_cases", lambda **_: pytest.fail("compared first"))
    code, _, err = gpusim("report", "--folder", tmp_path / "none")
    assert code == 2
    assert err.startswith(f"error: --folder {tmp_path / 'none'}: no such folder")
    code, _, err = gpusim("report", "--write", "--folder", tmp_path)
    assert code == 2
    assert "README.md" in err


def test_profile_lies_beside_the_scenario_or_in_the_current_folder(gpusim, path, tmp_path, monkeypatch):
    """In this order; if in neither, both are told."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    path.write_text(path.read_text(encoding="utf-8").replace("device: textbook", "device: mine.yaml"), encoding="utf-8")
    code, _, err = gpusim("check", path)
    assert code == 2
    assert f"device mine.yaml: no such file beside the scenario ({tmp_path}) or in the current folder" in err
    text = profile_text("textbook")
    (here / "mine.yaml").write_text(text, encoding="utf-8")
    assert gpusim("run", path, "--no-advice")[0] == 0
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    code, out, _ = gpusim("run", path, "--no-advice", "--json")
    assert json.loads(out)["device"] == str(tmp_path / "mine.yaml")
    assert gpusim("sweep", path)[0] == 0
    monkeypatch.chdir(tmp_path)
    assert gpusim("check", path.name)[0] == 0


def test_what_a_profile_lacks_has_a_place(gpusim, path, tmp_path):
    """Found only when it is needed, and told where the scenario names the profile."""
    (tmp_path / "mine.yaml").write_text(profile_text("textbook").replace("limits: cc90\n", ""), encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace("device: textbook", "device: mine.yaml"), encoding="utf-8")
    code, _, err = gpusim("run", path)
    assert code == 2
    assert err.startswith(f"error: {path}:2:1: device: device mine: its file states no ")


def test_a_report_says_what_is_outside_by_a_known_gap(gpusim, monkeypatch):
    """So that "no" and the exit code of success are no contradiction; the page has the same cells."""
    band = accuracy(())
    sides = [TimelineBuilder().build(device="d", total_s=total) for total in (1.5, 1.0)]
    known = RecordedCase("made_up", "d", {}, compare_timelines(*sides, gap="made up as well"))
    monkeypatch.setattr("gpusim.cli.report_command.all_cases", lambda **_: [known])
    code, out, _ = gpusim("report")
    assert code == 0
    (row,) = (line for line in out.splitlines() if line.startswith("made_up"))
    cells = ("1", "50.0%", "+50.0%", "–", "–", "no (1 known gap)")
    assert tuple(re.split(r"\s{2,}", row.strip())[1:]) == cells
    report = accuracy([known])
    assert summary_cells(report.overall, band.band) == cells
    assert f"| **all** | {' | '.join(cells)} |" in accuracy_table(report)


def test_doubts_are_told_and_are_no_error(gpusim, tmp_path):
    """By ``check``, ``run`` and both as JSON."""
    text = STAGES.with_name("software_pipelining.yaml").read_text(encoding="utf-8")
    path = tmp_path / "doubtful.yaml"
    path.write_text(re.sub(r"^ *- sync_threads.*\n", "", text, flags=re.MULTILINE), encoding="utf-8")
    code, out, err = gpusim("check", path)
    assert (code, err) == (0, "")
    assert out.startswith(f"{path}: doubtful: role ")
    assert "fine" not in out
    assert "doubtful: role " in gpusim("run", path)[1]
    assert "sync_threads" in json.loads(gpusim("run", path, "--json")[1])["doubts"][0]
    assert "sync_threads" in json.loads(gpusim("check", path, "--json")[1])["files"][0]["doubts"][0]
