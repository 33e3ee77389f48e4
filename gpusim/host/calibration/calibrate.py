"""From raw microbenchmark results to the host, copy and allocation quantities of a device.

``device``, ``front_end``, ``functions``, ``memory`` and ``peers`` hold small functions that isolate one mechanism each.
The raw results are the files ``host_<bench>.json`` of ``realkernels.microbench.host``. What a call costs depends on the
machine and its day more than on anything else, so there may be several runs of the benches, on several machines: the
median of each quantity is taken, and how far the runs lie apart is its spread. Nothing here sees the recording of a
technique: calibration and validation never mix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from statistics import median_low

from gpusim.hardware.calibration.benches import Measured
from gpusim.host.calibration.benches import Found, HostBenches
from gpusim.host.calibration.device import STEPS as DEVICE_STEPS
from gpusim.host.calibration.front_end import STEPS as FRONT_END_STEPS
from gpusim.host.calibration.functions import STEPS as FUNCTION_STEPS
from gpusim.host.calibration.memory import STEPS as MEMORY_STEPS
from gpusim.host.calibration.peers import STEPS as PEER_STEPS
from gpusim.host.calibration.programmatic import STEPS as PROGRAMMATIC_STEPS

__all__ = ["further_runs", "host_runs", "measure_host_quantities"]

Step = Callable[[HostBenches, Found], Found]


def host_runs(folder: Path) -> list[Path]:
    """The folders ``host/<run>`` of ``folder`` by name, or the folder itself if there are none."""
    return sorted(path for path in folder.glob("host/*") if path.is_dir()) or [folder]


def measure_host_quantities(folder: Path, cta_restart_s: float) -> Found:
    """All measured host quantities from the bench results in ``folder``, by name: medians of its runs.

    ``cta_restart_s``: what an SM takes from the end of a block to the next, as the device's profile has it.
    Raises RecordingError if a bench or a row is missing.
    """
    values: dict[str, list[Measured]] = {}
    one_device = (*DEVICE_STEPS, *FRONT_END_STEPS, *FUNCTION_STEPS, *MEMORY_STEPS)
    kinds = (
        (host_runs(folder), one_device),
        (further_runs(folder, "peers"), PEER_STEPS),
        (further_runs(folder, "programmatic"), PROGRAMMATIC_STEPS),
    )
    for runs, steps in kinds:
        for run in runs:
            for key, measured in _one_run(run, cta_restart_s, steps).items():
                values.setdefault(key, []).append(measured)
    return {key: _middle(runs) for key, runs in values.items()}


def further_runs(folder: Path, kind: str) -> list[Path]:
    """The folders ``<kind>/<run>`` of ``folder`` by name, of runs of that bench alone, or the folder if it has it.

    A device may have none.
    """
    own = [folder] if (folder / f"host_{kind}.json").exists() else []
    return sorted(path for path in folder.glob(f"{kind}/*") if path.is_dir()) or own


def _one_run(folder: Path, cta_restart_s: float, steps: Iterable[Step]) -> Found:
    benches = HostBenches(folder, cta_restart_s * 1e6)
    found: Found = {}
    for step in steps:
        found.update(step(benches, found))
    return found


def _middle(runs: list[Measured]) -> Measured:
    """The median (of an even number the lower one: sizes and answers have no mean), and from the lowest to the highest.

    One run keeps its own spread.
    """
    if len(runs) == 1:
        return runs[0]
    values = [run.value for run in runs]
    return replace(runs[0], value=median_low(values), spread=max(values) - min(values))
