"""Recordings: what a real GPU did, as committed beside each technique.

``recorded/<device>/totals.json`` holds run times, one row per parameter set;
``recorded/<device>/timelines.npz`` the timelines of one technique: the columns of each
`Timeline` and, as UTF-8 JSON in the array ``meta``, everything said about them. One file, so
that text and columns cannot come apart. Reading uses no pickle; writing is atomic.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gpusim.errors import RecordingError
from gpusim.files import write_atomically
from gpusim.timeline import COLUMNS, KINDS, REASONS, Timeline

__all__ = [
    "TIMELINES", "TOTALS", "TotalRow", "Totals", "device_folder", "find_total", "is_stale", "list_timelines",
    "load_timeline", "recorded_devices", "recordings_folder", "save_timeline", "source_hash",
]  # fmt: skip

TOTALS = "totals.json"
TIMELINES = "timelines.npz"

_TIMES = ("start_s", "end_s")
"""The columns that are floating-point numbers; all others are whole ones."""
_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_FOLDERS = {
    "NVIDIA H200": "h200_sxm", "NVIDIA H100 80GB HBM3": "h100_sxm", "NVIDIA A100-SXM4-80GB": "a100_sxm",
    "NVIDIA B200": "b200", "NVIDIA GeForce RTX 4090": "rtx4090",
}  # fmt: skip


@dataclass(frozen=True)
class TotalRow:
    """Run time of one parameter set: ``total_s`` is the median of ``repeats`` runs, in seconds.

    ``iqr_s`` is the distance of the quartiles. ``clock_hz`` was sampled right after the runs.
    ``vector_loop`` counts the instructions, by opcode, of the shortest loop that reads shared memory:
    the one over the vectors of a tile. None without such a loop, or where no disassembler was at hand.
    """

    params: Mapping[str, Any]
    total_s: float
    min_s: float
    max_s: float
    iqr_s: float
    repeats: int
    clock_hz: float
    registers: int
    local_bytes: int
    shared_bytes: int
    max_active_ctas: int
    source_sha256: str
    date: str
    vector_loop: Mapping[str, int] | None = None


@dataclass
class Totals:
    """All run times of one technique on one device, with how they were made.

    ``meta``: device (a mapping), driver, cuda, method, cache.
    """

    technique: str
    meta: dict[str, Any]
    rows: list[TotalRow] = field(default_factory=list)

    def merge(self, rows: Iterable[TotalRow]) -> None:
        """Add rows; one whose parameters are known already replaces the old one."""
        by_params = {_key(row.params): row for row in self.rows}
        by_params.update((_key(row.params), row) for row in rows)
        self.rows = list(by_params.values())

    def find(self, params: Mapping[str, Any]) -> TotalRow | None:
        """The row measured with exactly these parameters."""
        wanted = _key(params)
        return next((row for row in self.rows if _key(row.params) == wanted), None)

    @classmethod
    def load(cls, path: Path) -> Totals:
        """Read a totals file. Raises RecordingError if it is missing, truncated or not one."""
        data = _read_json(Path(path))
        try:
            rows = [TotalRow(**row) for row in data["rows"]]
            technique, meta = data["technique"], data["meta"]
        except (KeyError, TypeError) as error:
            raise RecordingError(f"not a totals file ({error})", path=path) from error
        if not (isinstance(meta, dict) and all(isinstance(row.params, dict) for row in rows)):
            raise RecordingError("not a totals file (meta and params are objects)", path=path)
        for row in rows:
            if not (_is_time(row.total_s) and row.total_s > 0):
                raise RecordingError(f"total_s of {row.params} is {row.total_s!r}, not a time", path=path)
            for name in ("min_s", "max_s", "iqr_s"):
                if not _is_time(getattr(row, name)):
                    raise RecordingError(f"{name} of {row.params} is {getattr(row, name)!r}, not a time", path=path)
        return cls(technique, meta, rows)

    def save(self, path: Path) -> None:
        """Write atomically, one row a line, so that a re-measured point is a one-line change."""
        head = json.dumps({"technique": self.technique, "meta": self.meta}, indent=1, allow_nan=False)[:-2]
        rows = ",\n".join("  " + json.dumps(dataclasses.asdict(row), allow_nan=False) for row in self.rows)
        write_atomically(Path(path), f'{head},\n "rows": [\n{rows}\n ]\n}}\n'.encode())


def device_folder(name: str) -> str:
    """Folder and profile name of a device the driver calls ``name`` ("NVIDIA H200" -> "h200_sxm")."""
    return _FOLDERS.get(name) or re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def recordings_folder(technique: Any) -> Path:
    """Where the recordings of a technique (anything with a ``folder``) lie, a folder for each device."""
    return Path(technique.folder) / "recorded"


def recorded_devices(technique: Any) -> tuple[str, ...]:
    """Devices on which a technique was measured."""
    folder = recordings_folder(technique)
    return tuple(sorted(p.name for p in folder.iterdir() if p.is_dir())) if folder.is_dir() else ()


def find_total(technique: Any, params: Any, device: str) -> TotalRow | None:
    """The recorded run time of ``params`` (a Params object or a mapping), or None if it was not measured.

    Raises RecordingError if the file exists but cannot be read.
    """
    path = recordings_folder(technique) / device / TOTALS
    if not path.exists():
        return None
    return _index(path, path.stat().st_mtime_ns).get(_key(_plain(params)))


def source_hash(source: Path) -> str:
    """sha256 over a kernel's source and every file it includes with quotes, found beside the includer.

    For techniques, whose kernel is one source. Microbenchmarks are several and have a hash of their own
    (``realkernels/_harness/compile.py``). Recordings hold what either of them gives, so neither can change to be the
    other.
    """
    digest, queue, seen = hashlib.sha256(), [Path(source).resolve()], set()
    while queue:
        path = queue.pop(0)
        if path in seen:
            continue
        seen.add(path)
        content = path.read_bytes()
        digest.update(content)
        included = ((path.parent / name.decode()).resolve() for name in _INCLUDE.findall(content))
        queue.extend(found for found in included if found.exists())
    return digest.hexdigest()


def is_stale(technique: Any, recorded: TotalRow | Mapping[str, Any]) -> bool:
    """Whether the kernel's source has changed since a row (or a timeline's ``meta``) was recorded."""
    known = recorded.source_sha256 if isinstance(recorded, TotalRow) else recorded.get("source_sha256")
    source = Path(technique.folder) / "kernel.cu"
    return not source.exists() or known != source_hash(source)


def save_timeline(path: Path, name: str, timeline: Timeline) -> None:
    """Add a timeline to a technique's file, replacing one of the same name.

    ``timeline.meta`` should hold technique, params, device, instrumented_total_s, total_s
    (un-instrumented), overhead, dropped, clock_hz and source_sha256.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", name):
        raise RecordingError(f"{name!r} is no name for a timeline (letters, digits, _ and - only)", path=path)
    path = Path(path)
    arrays, metas = _open_timelines(path) if path.exists() else ({}, {})
    metas[name] = {"lanes": list(timeline.lanes), "meta": dict(timeline.meta)}
    for column in COLUMNS:
        arrays[f"{name}.{column}"] = getattr(timeline, column)
    text = json.dumps(metas, allow_nan=False).encode()
    arrays["meta"] = np.frombuffer(text, dtype=np.uint8)
    with tempfile.TemporaryFile() as buffer:
        np.savez_compressed(buffer, **arrays)
        buffer.seek(0)
        write_atomically(path, buffer.read())


def list_timelines(path: Path) -> dict[str, dict[str, Any]]:
    """Names and ``meta`` of the timelines in a file. Raises RecordingError if it cannot be read."""
    return {name: entry["meta"] for name, entry in _open_timelines(Path(path))[1].items()}


def load_timeline(path: Path, name: str) -> Timeline:
    """One timeline of a file. Raises RecordingError if the file or the timeline is missing or broken."""
    arrays, metas = _open_timelines(Path(path))
    if name not in metas:
        raise RecordingError(f"no timeline {name!r} in it (it has {', '.join(metas) or 'none'})", path=path)
    try:
        columns = {column: arrays[f"{name}.{column}"] for column in COLUMNS}
        lanes, meta = tuple(metas[name]["lanes"]), metas[name]["meta"]
    except KeyError as error:
        raise RecordingError(f"timeline {name!r} lacks {error}", path=path) from error
    problem = _problem(columns, len(lanes))
    if problem:
        raise RecordingError(f"timeline {name!r}: {problem}", path=path)
    return Timeline(lanes=lanes, meta=meta, **columns)


def _problem(columns: Mapping[str, np.ndarray], lanes: int) -> str:
    """What makes columns none of a timeline, or nothing: metrics and figures take all of it for granted."""
    shape, size = columns["lane"].shape, columns["lane"].size
    bounds = {"lane": (0, lanes), "kind": (0, len(KINDS)), "reason": (0, len(REASONS)), "cause": (-1, size)}
    for column, values in columns.items():
        if len(shape) != 1 or values.shape != shape or values.dtype.kind != ("f" if column in _TIMES else "i"):
            return f"column {column} has the wrong shape or type"
        if column in bounds and size:
            least, beyond = bounds[column]
            if not (values.min() >= least and values.max() < beyond):
                return f"column {column} is out of range"
    start, end = (columns[column] for column in _TIMES)
    if not (np.isfinite(start).all() and np.isfinite(end).all()):
        return "a time is not finite"
    if not (end >= start).all():
        return "an interval ends before it starts"
    if (np.lexsort((start, columns["lane"])) != np.arange(size)).any():
        return "its intervals are not sorted by lane and start"
    return ""


def _open_timelines(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        return arrays, _metas(arrays.pop("meta").tobytes())
    except FileNotFoundError as error:
        raise RecordingError("there is no such recording", path=path) from error
    except IsADirectoryError as error:
        raise RecordingError("is a folder; expected a timeline file", path=path) from error
    except (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        # What NumPy says is about the container, not about what is expected in it.
        expected = "expected an .npz as gpusim.validation.recording.save_timeline writes it"
        raise RecordingError(f"truncated or not a timeline file; {expected}", path=path) from error


def _metas(text: bytes) -> dict[str, Any]:
    metas = json.loads(text)
    for entry in metas.values():
        lanes = entry["lanes"]
        if not (isinstance(lanes, list) and all(isinstance(lane, str) for lane in lanes)):
            raise ValueError("its lanes are no list of names")
        if not isinstance(entry["meta"], dict):
            raise TypeError("its meta says something else")
    return metas


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise RecordingError("there is no such recording", path=path) from error
    except (OSError, ValueError) as error:
        raise RecordingError(f"truncated or not JSON ({error})", path=path) from error
    if not isinstance(data, dict):
        raise RecordingError("not a recording: an object is expected", path=path)
    return data


@lru_cache(maxsize=64)
def _index(path: Path, _modified: int) -> dict[str, TotalRow]:
    return {_key(row.params): row for row in Totals.load(path).rows}


def _plain(params: Any) -> Mapping[str, Any]:
    return dataclasses.asdict(params) if dataclasses.is_dataclass(params) else params


def _key(params: Mapping[str, Any]) -> str:
    return json.dumps(dict(params), sort_keys=True)
