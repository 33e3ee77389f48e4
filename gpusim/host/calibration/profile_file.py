"""Writing the host half of a measured device's profile: ``profiles/host/<device>.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from gpusim.files import write_atomically
from gpusim.hardware.calibration.benches import Measured
from gpusim.hardware.profile import DeviceProfile, profile_from_yaml
from gpusim.host.calibration.benches import HostBenches
from gpusim.host.calibration.calibrate import host_runs, measure_host_quantities

__all__ = ["OTHERS", "host_profile", "host_profile_text", "write_host_profile"]

OTHERS: dict[str, tuple[str, str, str]] = {
    "copy.engines": ("3", "specified", "device properties: asyncEngineCount"),
    "copy.channels": ("4", "assumed", "as on an H200"),
    "copy.clear_rate": ("474.5 GB/s", "assumed", "as on an H100"),
    "copy.d2d_block": ("4 KiB", "assumed", "bytes per block (0: an engine); what comes behind 4 MiB waits for the end"),
    "copy.d2d_enough": ("0.58", "assumed", "as on an H200: the part of its blocks with which a copy has its full rate"),
    "copy.d2d_threads": ("256", "assumed", "as on an H200: per block"),
    "copy.memset_bandwidth": ("4.3 TB/s", "assumed", "what device memory writes (hbm.write_bandwidth)"),
    "copy.memset_overhead": ("1.9 us", "assumed", "as of a copy within the device"),
    "copy.p2p_bandwidth": ("395 GB/s", "published", "nvbandwidth on an H100 SXM, read between peers"),
    "copy.p2p_overhead": ("2.5 us", "published", "p2pBandwidthLatencyTest on an H100 SXM"),
    "host.cuda.cache_hit": ("0.2 us", "assumed", "a map and a lock; not measured"),
    "host.cuda.cache_give": ("0.1 us", "assumed", "a map and a lock; not measured"),
    "host.cuda.func_steals": ("0 us", "assumed", "a C++ function needs no interpreter"),
    "host.cuda.memset_async": ("3.2 us", "assumed", "as beside an H200"),
    "host.cuda.memset_small": ("0.85 us", "assumed", "as beside an H200"),
    "host.cupy.memset_async": ("5.5 us", "assumed", "as beside an H200"),
    "host.cupy.memset_small": ("1.7 us", "assumed", "as beside an H200"),
    "pageable.buffers": ("2", "assumed", "copies (pageable_behind_kernel): more than 1 MiB and less than 16 MiB"),
    **{
        f"host.{api}.{call}": (f"{seconds} us", "assumed", "as beside two H200")
        for call, times in {
            "memcpy_peer": (2.5, 2.85),
            "memcpy_pull": (4.5, 5.5),
            "set_device": (0.12, 0.09),
            "wait_peer_event": (1.6, 1.7),
        }.items()
        for api, seconds in zip(("cupy", "cuda"), times, strict=True)
    },
    **{
        f"pool.look_{state}": (
            f"{seconds} us",
            "assumed",
            "three quarters of what two hosts took on which a hit took 0.95 us",
        )
        for state, seconds in (("idle", 0.2), ("done", 1.05), ("busy", 0.2))
    },
    **{
        f"{place}.programmatic_{name}": (f"{seconds} us", "assumed", "as on an H200")
        for place, times in {"stream": (0.65, 0.66), "graph": (0.53, 0.51)}.items()
        for name, seconds in zip(("start", "wait"), times, strict=True)
    },
    "stream.peer_hop": ("3.1 us", "assumed", "as between two H200"),
    "stream.peer_retry": ("3.2 us", "assumed", "as between two H200"),
    "stream.connections": ("8", "specified", "CUDA C++ Programming Guide: CUDA_DEVICE_MAX_CONNECTIONS, default"),
    "stream.retry_more": ("2.3 us", "assumed", "as on an H200; needs CUPTI to be measured"),
    "stream.resident_grids": ("128", "specified", "CUDA C++ Programming Guide, table of technical specifications"),
    "graph.start": ("2.3 us", "assumed", "as a kernel's: stream.start"),
}
"""Quantities that no bench gives, or none everywhere (what is measured goes before them): value, kind, source."""


def host_profile_text(title: str, measured: Mapping[str, Measured]) -> str:
    """The YAML of the measured quantities and of `OTHERS`, in name order."""
    entries: dict[str, dict[str, Any]] = {}
    for key, (value, kind, source) in OTHERS.items():
        entries[key] = {"value": value, "kind": kind, "source": source}
    for key, number in measured.items():
        entry = {"value": number.text if number.unit else float(number.text), "kind": "measured",
                 "source": f"realkernels.microbench.host {number.source}"}  # fmt: skip
        if number.spread:
            entry["spread"] = f"{number.spread:.2g} {number.unit}".strip()
        entries[key] = entry
    lines = "".join(
        f"  {key}: {yaml.safe_dump(entry, default_flow_style=True, width=1000, sort_keys=False).strip()}\n"
        for key, entry in sorted(entries.items())
    )
    head = yaml.safe_dump({"title": title}, sort_keys=False, width=100, allow_unicode=True)
    comment = "# Written by `gpusim calibrate` from realkernels/microbench; edit nothing by hand.\n"
    return f"{comment}{head}quantities:\n{lines}"


def write_host_profile(folder: Path, target: Path) -> Path:
    """Make ``host/<name>.yaml`` beside the profile ``target``, from the bench results in ``folder``; returns its path.

    The file is replaced as a whole or not at all. Raises RecordingError if a bench is missing.
    """
    text = host_profile(folder, profile_from_yaml(target.stem, target.read_text(encoding="utf-8")))
    path = target.parent / "host" / target.name
    write_atomically(path, text)
    return path


def host_profile(folder: Path, device: DeviceProfile) -> str:
    """The text of ``profiles/host/<device>.yaml`` from the bench results in ``folder``.

    ``device`` is the rest of the profile, of which one number is needed. Raises RecordingError if a bench is missing.
    """
    measured = measure_host_quantities(folder, device.seconds_of("cta.restart"))
    runs = [HostBenches(run).head("calls")["device"] for run in host_runs(folder)]
    about, days = runs[-1], sorted({run["date"][:10] for run in runs})
    when = f"{len(runs)} runs, {' and '.join(days)}" if len(runs) > 1 else f"measured {days[0]}"
    title = f"Host, copies and streams of {about['name']} ({when}, driver {about['driver']})"
    return host_profile_text(title, measured)
