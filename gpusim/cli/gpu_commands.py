"""``measure`` and ``calibrate``: the two commands that need a GPU."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gpusim.cli.doctor_command import gpu_names
from gpusim.cli.inputs import scenario_and_axes, scenario_and_sweep
from gpusim.cli.output import console, print_json, seconds
from gpusim.errors import GpusimError
from gpusim.files import write_atomically
from gpusim.hardware.profile import profile_text
from gpusim.scenario import predict
from gpusim.scenario.sweeps.points import sweep_points
from gpusim.validation import measurement_of
from gpusim.validation.recording import device_folder, recordings_folder

__all__ = ["calibrate", "measure"]

# This package knows no real kernel; who brings them says how they are run.
CALIBRATION_GROUP = "gpusim.calibration"
MEASUREMENT_GROUP = "gpusim.measurement"


def measure(
    path: Path, assignments: list[str] | None, *, json: bool, sweep: bool, timeline: bool, record: bool
) -> None:
    """Run the technique's real kernel with the scenario's parameters, and keep the recordings if asked to."""
    read = scenario_and_sweep if sweep else scenario_and_axes
    scenario, axes = read(path, assignments, None)
    technique = scenario.technique
    if technique is None:
        raise GpusimError(
            f"{path}: {scenario.nothing_real}; use a technique, or time your own for gpusim compare (--total TIME, or "
            "--measured FILE)"
        )
    measure_one = _plugin(MEASUREMENT_GROUP)
    chosen = [one for _, one in sweep_points(scenario, axes)] if axes else [scenario]
    _require_gpu()
    for one in chosen:
        # What deadlocks here would hang the GPU: its message comes instead.
        predict(one, trace=False)
    rows = []
    for one in chosen:
        before = measurement_of(one)
        try:
            row = measure_one(technique, one.params, timeline=timeline, record=record)
        except Exception as error:  # does not compile, does not fit, computes something else: a plug-in's own classes
            raise GpusimError(f"{technique.name} {one.params} could not be measured: {error}") from error
        rows.append(row)
        if not json:
            told = f"{seconds(row.total_s)}, quartiles {row.iqr_s / row.total_s:.1%} apart, {row.repeats} runs"
            if before is not None:
                told += f"; recorded before: {seconds(before.total_s)}, {row.total_s / before.total_s - 1.0:+.1%}"
            console().print(f"{one.params}: {told}")
    folder = recordings_folder(technique)
    if json:
        print_json({"folder": str(folder) if record else None, "scenario": scenario.resolved(), "measured": rows})
    else:
        console().print(f"recorded in {folder}" if record else "not recorded")


def calibrate(name: str, output: Path | None, host_of: str | None, *, json: bool) -> None:
    """Run the microbenchmarks and make a device profile of what they say; with ``host_of`` those of the host alone."""
    benches = _plugins(CALIBRATION_GROUP)
    device_text = profile_text(host_of) if host_of is not None else None
    gpu = _require_gpu()
    target = output or Path(f"{name}.yaml")
    with tempfile.TemporaryDirectory() as folder:
        for bench in benches.values() if host_of is None else [benches["host"]]:
            if bench(["--out", folder]) != 0:
                raise GpusimError("the microbenchmarks failed; their messages stand above")
        # Both files in the folder first, so that what is there already is replaced by both or by neither.
        made = Path(folder) / target.name
        if device_text is None:
            import_module("gpusim.hardware.calibration.profile_file").write_profile(Path(folder), made)
        else:
            made.write_text(device_text, encoding="utf-8")
        made_host = import_module("gpusim.host.calibration.profile_file").write_host_profile(Path(folder), made)
        host = target.parent / made_host.relative_to(folder)
        write_atomically(host, made_host.read_text(encoding="utf-8"))
        write_atomically(target, f"{made.read_text(encoding='utf-8')}recordings: {host_of or device_folder(gpu)}\n")
    if json:
        print_json({"file": str(target), "host_file": str(host), "device": name})
    else:
        told = f"{target}: written\n{host}: written\nin a scenario: device: {target}"
        console().print(told)


def _plugin(group: str) -> Callable[..., Any]:
    return next(iter(_plugins(group).values()))


def _plugins(group: str) -> dict[str, Callable[..., Any]]:
    points = sorted(entry_points(group=group), key=lambda point: point.name)
    if not points:
        raise GpusimError("no real kernels are installed; install the project: pip install -e .")
    return {point.name: point.load() for point in points}


def _require_gpu() -> str:
    """The first GPU's name. Raises GpusimError saying what is missing and what to do about it."""
    names, _ = gpu_names()
    if not names:
        raise GpusimError(
            "measuring needs an NVIDIA GPU and its driver, and nvidia-smi finds none; "
            "the recordings that ship with the project need neither (gpusim compare, gpusim report)"
        )
    if find_spec("cupy") is None:
        raise GpusimError(
            "measuring needs CuPy: pip install 'gpusim[gpu-cuda13]', or gpu-cuda12 with a driver for CUDA 12"
        )
    return names[0]
