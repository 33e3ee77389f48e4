"""``measure`` and ``calibrate``, without a GPU or with one that is made up."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from gpusim.scenario import load
from gpusim.validation import measurement_of

STAGES = Path(__file__).resolve().parents[2] / "scenarios" / "stages.yaml"


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


def test_kernel_that_would_hang_the_gpu_is_not_run(gpusim, path, monkeypatch):
    """The deadlock that the model sees is what is said instead."""
    measured = []
    monkeypatch.setattr("gpusim.cli.gpu_commands._require_gpu", lambda: None)
    monkeypatch.setattr("gpusim.cli.gpu_commands._plugin", lambda group: lambda *given, **how: measured.append(given))
    path.write_text("question: q\ndevice: h200_sxm\nkernel: {technique: gemm, params: {stages: 1, pending: 1}}\n")
    code, _, err = gpusim("measure", path)
    assert code == 2
    assert "producer" in err
    assert "stage" in err
    assert not measured
