"""Writing the profile of a measured device.

The file states what vendor documents specify (`SPECIFIED` knows the devices we have numbers
for), refers to the limits of the compute capability, and holds every measured quantity with
its bench and spread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from gpusim.errors import ProfileError
from gpusim.files import write_atomically
from gpusim.hardware.calibration.benches import Measured, bench_file
from gpusim.hardware.calibration.calibrate import measure_quantities

__all__ = ["SPECIFIED", "profile_text", "write_profile"]

SPECIFIED: dict[str, dict[str, tuple[str, str]]] = {
    "NVIDIA H200": {
        "hbm.peak_bandwidth": ("4.8 TB/s", "H200 data sheet"),
    },
    "NVIDIA H100 80GB HBM3": {
        "hbm.peak_bandwidth": ("3.35 TB/s", "H100 data sheet"),
    },
}
"""Published figures by device name: quantity → (value, source)."""

_LIMITS = {"8.0": "cc80", "8.9": "cc89", "9.0": "cc90", "10.0": "cc100"}


def write_profile(folder: Path, target: Path) -> None:
    """Make ``target`` the profile of the device whose microbenchmark results lie in ``folder``.

    The file is replaced as a whole or not at all. Raises RecordingError or ProfileError.
    """
    about = bench_file(folder, "launch")
    text = profile_text(about["device"], measure_quantities(folder), about["date"])
    write_atomically(target, text)


def profile_text(device: Mapping[str, Any], measured: Mapping[str, Measured], date: str) -> str:
    """The YAML of a profile for ``device`` (as ``describe_device`` gives it).

    Raises ProfileError for a compute capability without a table of limits.
    """
    capability = str(device["compute_capability"])
    if capability not in _LIMITS:
        raise ProfileError(f"no limits for compute capability {capability}", given=capability, allowed=_LIMITS)
    l2 = f"{device['l2_bytes'] / 2**20:g} MiB"
    quantities: dict[str, dict[str, Any]] = {
        "sm.count": {"value": device["sm_count"], "kind": "specified", "source": "device properties"},
        "hbm.capacity": {"value": f"{device['memory_bytes']} B", "kind": "specified", "source": "device properties"},
        "l2.capacity": {"value": l2, "kind": "specified", "source": "device properties"},
        "barrier.issue": {"value": "1 cycles", "kind": "specified", "source": "machine code: one instruction each"},
    }
    for key, (value, source) in SPECIFIED.get(str(device["name"]), {}).items():
        quantities[key] = {"value": value, "kind": "specified", "source": source}
    for key, found in sorted(measured.items()):
        # Noise around nothing may be below it, which no profile may state.
        number = replace(found, value=max(found.value, 0.0))
        entry = {
            "value": number.text if number.unit else json.loads(number.text),
            "kind": "measured",
            "source": f"realkernels.microbench {number.source}",
        }
        if number.spread:
            entry["spread"] = f"{number.spread:.2g} {number.unit}".strip()
        quantities[key] = entry
    header = {
        "title": f"{device['name']} (measured {date[:10]}, driver {device['driver']})",
        "description": (
            "Cycle counts, rates and latencies from this project's microbenchmarks, limits from vendor "
            "documents. Left out: address translation, clocks that fall under load but for that of tensor cores."
        ),
        "limits": _LIMITS[capability],
    }
    comment = "# Written by `gpusim calibrate` from realkernels/microbench; edit nothing by hand.\n"
    body = yaml.safe_dump(header, sort_keys=False, width=100, allow_unicode=True)
    lines = "".join(
        f"  {key}: {yaml.safe_dump(entry, default_flow_style=True, width=1000, sort_keys=False).strip()}\n"
        for key, entry in quantities.items()
    )
    return f"{comment}{body}quantities:\n{lines}"
