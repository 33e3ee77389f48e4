"""From raw microbenchmark results to the host, copy and allocation quantities of a device.

``calibrate_device`` and ``calibrate_memory`` hold small functions that isolate one mechanism each. The raw
results are the files ``host_<bench>.json`` of ``realkernels.microbench.host``. Nothing here sees the recording
of a technique: calibration and validation never mix.
"""

from __future__ import annotations

from pathlib import Path

from gpusim.hardware.benches import Measured
from gpusim.host.benches import Found, HostBenches
from gpusim.host.calibrate_device import STEPS as DEVICE_STEPS
from gpusim.host.calibrate_memory import STEPS as MEMORY_STEPS

__all__ = ["measure_host_quantities"]


def measure_host_quantities(folder: Path, cta_restart_s: float) -> Found:
    """All measured host quantities from the bench results in ``folder``, by name.

    ``cta_restart_s``: what an SM takes from the end of a block to the next, as the device's profile has it.
    Raises RecordingError if a bench or a row is missing.
    """
    benches = HostBenches(folder)
    found: Found = {"restart": Measured(cta_restart_s * 1e6, "us", "")}
    for step in (*DEVICE_STEPS, *MEMORY_STEPS):
        found.update(step(benches, found))
    del found["restart"]
    return found
