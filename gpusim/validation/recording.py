"""Recordings: what a real GPU did, as committed beside each technique.

``recorded/<device>/totals.json`` holds run times, one row per parameter set;
``recorded/<device>/timelines.npz`` the timelines of one technique: the columns of each
`Timeline` and everything said about them (`timeline_file`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpusim.errors import RecordingError
from gpusim.files import json_by_rows, write_atomically
from gpusim.validation.case_key import device_folder, params_key
from gpusim.validation.timeline_file import list_timelines, load_timeline, save_timeline

__all__ = [
    "TIMELINES", "TOTALS", "TotalRow", "Totals", "device_folder", "find_total", "is_stale", "list_timelines",
    "load_timeline", "params_key", "recorded_devices", "recordings_folder", "save_timeline", "source_hash",
]  # fmt: skip

TOTALS = "totals.json"
TIMELINES = "timelines.npz"

_INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_STAMPS = ("probe.cuh", "observer.cuh")
"""Headers of time stamps (``realkernels/_harness``)."""


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
        by_params = {params_key(row.params): row for row in self.rows}
        by_params.update((params_key(row.params), row) for row in rows)
        self.rows = list(by_params.values())

    def find(self, params: Mapping[str, Any]) -> TotalRow | None:
        """The row measured with exactly these parameters."""
        wanted = params_key(params)
        return next((row for row in self.rows if params_key(row.params) == wanted), None)

    @classmethod
    def load(cls, path: Path) -> Totals:
        """Read a totals file. Raises RecordingError if it is missing, truncated or not one."""
        data = _read_json(Path(path))
        for name, kind in (("technique", str), ("meta", dict), ("rows", list)):
            if not isinstance(data.get(name), kind):
                raise RecordingError(f"not a totals file ({name} is {data.get(name)!r:.40})", path=path)
        technique, meta, rows = data["technique"], data["meta"], []
        for number, row in enumerate(data["rows"]):
            try:
                rows.append(TotalRow(**row))
                if not isinstance(row["params"], dict):
                    raise TypeError(f"params are {row['params']!r}")  # noqa: TRY301 - told with its number below
            except TypeError as error:
                raise RecordingError(f"not a totals file (row {number}: {error})", path=path) from error
        for row in rows:
            if not (_is_time(row.total_s) and row.total_s > 0):
                raise RecordingError(f"total_s of {row.params} is {row.total_s!r}, not a time", path=path)
            for name in ("min_s", "max_s", "iqr_s"):
                if not _is_time(getattr(row, name)):
                    raise RecordingError(f"{name} of {row.params} is {getattr(row, name)!r}, not a time", path=path)
        return cls(technique, meta, rows)

    def save(self, path: Path) -> None:
        """Write atomically, one row a line."""
        head = {"technique": self.technique, "meta": self.meta}
        write_atomically(Path(path), json_by_rows(head, map(dataclasses.asdict, self.rows)))


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
    return _index(path, path.stat().st_mtime_ns).get(params_key(_plain(params)))


def source_hash(source: Path, *, instrumented: bool = False) -> str:
    """sha256 over a kernel's source and every file it includes with quotes, found beside the includer.

    Those of the time stamps, which are compiled to nothing without them, count for an ``instrumented`` build only.

    For techniques, whose kernel is one source. Microbenchmarks are several and have a hash of their own
    (``realkernels/_harness/compile.py``). Recordings hold what either of them gives, so neither can change to be the
    other.
    """
    digest, queue, seen = hashlib.sha256(), [Path(source).resolve()], set()
    while queue:
        path = queue.pop(0)
        if path in seen or (path.name in _STAMPS and not instrumented):
            continue
        seen.add(path)
        content = path.read_bytes()
        digest.update(content)
        included = ((path.parent / name.decode()).resolve() for name in _INCLUDE.findall(content))
        queue.extend(found for found in included if found.exists())
    return digest.hexdigest()


def is_stale(technique: Any, recorded: TotalRow | Mapping[str, Any]) -> bool:
    """Whether the kernel's source has changed since a row (or a timeline's ``meta``) was recorded."""
    about = {"source_sha256": recorded.source_sha256} if isinstance(recorded, TotalRow) else recorded
    source, instrumented = Path(technique.folder) / "kernel.cu", "sm_ids" in about  # those that wrote stamps
    return not source.exists() or about.get("source_sha256") != source_hash(source, instrumented=instrumented)


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
    return {params_key(row.params): row for row in Totals.load(path).rows}


def _plain(params: Any) -> Mapping[str, Any]:
    return dataclasses.asdict(params) if dataclasses.is_dataclass(params) else params
