"""``run``: what it tells, as JSON and for people, and which device it takes."""

import json
import re

import pytest
import yaml

from gpusim.hardware.profile import profile_text


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


def test_run_says_who_is_left_for_the_last_wave(gpusim, path):
    """Of more CTAs than run at a time; of fewer nothing."""
    _, out, _ = gpusim("run", path, "--no-advice")
    assert "waves" not in out
    _, out, _ = gpusim("run", path, "--no-advice", "--set", "kernel.grid=1100")
    assert "1,100 CTAs, 528 at a time: 3 waves, the last one of 44" in out


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
    assert re.fullmatch(r"assumed quantities: \d+; `gpusim devices a100_sxm` lists them", line)
    _, out, _ = gpusim("run", scenario, "--no-advice", "--device", "h100_sxm")
    assert "lists them" not in out


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


def test_device_of_the_command_line_is_blamed_on_it(gpusim, path):
    """And not on the line of the file that it replaces."""
    code, _, err = gpusim("run", path, "--device", "h300")
    assert code == 2
    assert err.startswith("error: --device: unknown device 'h300' (allowed: ")
    assert gpusim("run", path, "--set", "device.base=h300")[2].startswith("error: --set device.base: unknown device")
