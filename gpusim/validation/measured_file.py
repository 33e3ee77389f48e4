"""A measured timeline from a file of one's own, alone or to be compared with a scenario.

Such a file is what `gpusim.validation.recording.save_timeline` writes: of a kernel with the probe in it, or
``recorded/<device>/timelines.npz`` of a technique. Or it is the trace of another tool: Chrome JSON, such as the PyTorch
profiler, Proton and gpusim itself write, compressed (.json.gz) or not, or the SQLite export of Nsight Systems.
"""

from __future__ import annotations

import dataclasses
import gzip
import math
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gpusim.errors import RecordingError, listing, nearest
from gpusim.scenario import Scenario
from gpusim.timeline import Timeline
from gpusim.timeline.chrome_import import from_chrome_json
from gpusim.timeline.nsys_import import MAGIC, from_nsys
from gpusim.validation.recording import device_folder, list_timelines, load_timeline

__all__ = ["read_measured", "read_timeline"]

_JSON = (b"{", b"[")
_GZIP, _ZIP = b"\x1f\x8b", b"PK"
_MOST_UNPACKED = 1 << 30
"""Bytes that a compressed trace may have when it is unpacked."""
_EXPECTED = (
    "an .npz as docs/probe.md makes it, Chrome JSON (.json, .json.gz), or the SQLite export of Nsight Systems (.sqlite)"
)
_NUMBERS = (
    "overhead", "period_s", "hidden_fraction", "bytes_read", "bytes_written", "flop", "peak_bytes_per_s",
    "peak_flop_per_s", "hbm_busy", "launch_s",
)  # fmt: skip
"""What metrics read besides the total."""


def read_measured(path: Path, scenario: Scenario, name: str | None = None) -> tuple[str, Timeline]:
    """The timeline called ``name`` in ``path`` (or the only one) with its name, its device as a profile is called.

    Of all parameters of a technique the scenario's are meant. Times in clock cycles are taken to be those of the
    scenario's device. Raises RecordingError as `read_timeline`, and if what is named belongs to another device,
    technique or parameters than the scenario.
    """
    name, timeline = _read(path, name, scenario.profile().clock_hz, lambda meta: _foreign(meta, scenario))
    problem = _foreign(timeline.meta, scenario)
    if problem:
        raise RecordingError(f"timeline {name!r} {problem}", path=path)
    device = timeline.meta.get("device")
    return name, timeline if device is None else timeline.with_meta(device=device_folder(str(device)))


def read_timeline(path: Path, name: str | None = None, clock_hz: float | None = None) -> tuple[str, Timeline]:
    """The timeline called ``name`` in ``path`` (or the only one) with its name.

    ``clock_hz`` is the clock of the SMs, for traces whose times are cycles. Raises RecordingError, naming the file, if
    it is missing, truncated or no file of timelines, if several are in it and none is named, or if what is named was
    not measured or says no total time.
    """
    return _read(path, name, clock_hz, lambda _: "")


def _read(
    path: Path, name: str | None, clock_hz: float | None, foreign: Callable[[Mapping[str, Any]], str]
) -> tuple[str, Timeline]:
    """The timeline called ``name``, in whatever form the file has it; without a name one that is not ``foreign``."""
    begins = _beginning(path)
    if begins.startswith((_GZIP, MAGIC)) or begins.lstrip()[:1] in _JSON:
        try:
            read = {"trace": from_nsys(path)} if begins.startswith(MAGIC) else from_chrome_json(_text(path), clock_hz)
        except RecordingError as error:
            raise RecordingError(error.problem, path=path) from error
        measured = [each for each, timeline in read.items() if timeline.meta.get("source") == "measured"]
        # A file of gpusim holds the prediction, too.
        name = _chosen(path, read, name or (measured[0] if len(measured) == 1 else None))
        timeline = read[name]
    else:
        if begins and not begins.startswith(_ZIP):
            raise RecordingError(f"truncated or not a timeline file; expected {_EXPECTED}", path=path)
        if not begins and path.is_file():
            raise RecordingError(f"is empty; expected {_EXPECTED}", path=path)
        found = list_timelines(path)
        fitting = [each for each, meta in found.items() if not (_unusable(meta) or foreign(meta))]
        name = _chosen(path, found, name or (fitting[0] if len(fitting) == 1 else None))
        timeline = load_timeline(path, name)
    if problem := _unusable(timeline.meta):
        raise RecordingError(f"timeline {name!r} {problem}", path=path)
    return name, timeline


def _beginning(path: Path) -> bytes:
    """The first bytes of a file; none where it cannot be read, which `list_timelines` tells."""
    try:
        with path.open("rb") as stream:
            return stream.read(64)
    except OSError:
        return b""


def _text(path: Path) -> bytes:
    """The content of a text file, which may be compressed."""
    content = path.read_bytes()
    if not content.startswith(_GZIP):
        return content
    try:
        with gzip.open(path) as stream:
            unpacked = stream.read(_MOST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise RecordingError(f"truncated or not compressed by gzip ({error})") from error
    if len(unpacked) > _MOST_UNPACKED:
        raise RecordingError(f"is more than {_MOST_UNPACKED >> 20:,} MiB when unpacked; trace a shorter run")
    return unpacked


def _chosen(path: Path, found: Mapping[str, Any], name: str | None) -> str:
    if not found:
        raise RecordingError("holds no timeline", path=path)
    if name is None:
        if len(found) > 1:
            raise RecordingError(
                f"holds {len(found)} timelines, choose one with --timeline NAME (it has {listing(found)})", path=path
            )
        return next(iter(found))
    if name not in found:
        close = nearest(name, found)
        hint = f". Did you mean {close!r}?" if close else ""
        raise RecordingError(f"no timeline {name!r} in it (it has {listing(found)}){hint}", path=path)
    return name


def _unusable(meta: Mapping[str, Any]) -> str:
    """What speaks against comparing a timeline with ``meta`` with anything, or nothing."""
    if meta.get("source") != "measured":
        return f"is not a measured one (its source is {meta.get('source')!r})"
    total_s = meta.get("total_s")
    if not (isinstance(total_s, int | float) and math.isfinite(total_s) and total_s > 0):
        return f"has no run time of the kernel (total_s is {total_s!r}, expected seconds)"
    for name in _NUMBERS:
        if name in meta and not (isinstance(meta[name], int | float) and math.isfinite(meta[name])):
            return f"has {meta[name]!r} as its {name}, expected a number"
    return ""


def _foreign(meta: Mapping[str, Any], scenario: Scenario) -> str:
    """What speaks against comparing a timeline with ``meta`` with the scenario, or nothing."""
    device = meta.get("device")
    if device is not None and device_folder(str(device)) != (wanted := scenario.recorded_device):
        return f"was measured on {device} ({device_folder(str(device))}), the scenario is for {wanted}"
    if scenario.technique is None or "technique" not in meta:
        return ""
    if meta["technique"] != scenario.technique.name:
        return f"is of {meta['technique']}, the scenario of {scenario.technique.name}"
    measured, wanted = meta.get("params", {}), dataclasses.asdict(scenario.params)
    if not isinstance(measured, Mapping):
        return f"has parameters without names: {measured!r}"
    different = [f"{key}={measured.get(key)!r}" for key, value in wanted.items() if measured.get(key) != value]
    return f"was measured with other parameters: {', '.join(different)}" if different else ""
