"""Files of timelines: the columns of each and, as UTF-8 JSON in the array ``meta``, everything said about them.

One .npz file, so that text and columns cannot come apart. Reading uses no pickle; writing is atomic. What is wrong with
a file is told with the part of it that is.
"""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gpusim.errors import RecordingError
from gpusim.files import write_atomically
from gpusim.timeline import COLUMNS, KINDS, REASONS, Timeline
from gpusim.validation.case_key import device_folder, params_key

__all__ = ["NAME", "list_timelines", "load_timeline", "save_timeline"]

NAME = r"[A-Za-z0-9_-]{1,80}"
"""What a timeline may be called in its file."""
_TIMES = ("start_s", "end_s")
"""The columns that are floating-point numbers; all others are whole ones."""
_EXPECTED = "expected an .npz as gpusim.validation.recording.save_timeline writes it"
_BROKEN = (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, zipfile.BadZipFile, zlib.error)
"""What NumPy and the archive raise where bytes are not what they should be."""


def save_timeline(path: Path, name: str, timeline: Timeline) -> None:
    """Add a timeline to a technique's file, replacing one of the same name or of the same case.

    A case is a technique with its parameters on a device: whoever looks for it would find the older one first, under
    whatever name. ``timeline.meta`` should hold technique, params, device, instrumented_total_s, total_s
    (un-instrumented), overhead, dropped, clock_hz and source_sha256.

    Raises RecordingError for a name that is none, or a file that cannot be read.
    """
    if not re.fullmatch(NAME, name):
        raise RecordingError(f"expected a name of letters, digits, _ and - for a timeline, got {name!r}", path=path)
    path = Path(path)
    arrays, metas = _read(path, lambda _: True) if path.exists() else ({}, {})
    for older in [each for each in metas if each != name and _same_case(metas[each]["meta"], timeline.meta)]:
        del metas[older]
        arrays = {key: values for key, values in arrays.items() if not key.startswith(f"{older}.")}
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
    return {name: entry["meta"] for name, entry in _read(Path(path), lambda _: False)[1].items()}


def load_timeline(path: Path, name: str) -> Timeline:
    """One timeline of a file. Raises RecordingError if the file or the timeline is missing or broken."""
    arrays, metas = _read(Path(path), lambda key: key.startswith(f"{name}."))
    if name not in metas:
        raise RecordingError(f"no timeline {name!r} in it (it has {', '.join(metas) or 'none'})", path=path)
    try:
        columns = {column: arrays[f"{name}.{column}"] for column in COLUMNS}
    except KeyError as error:
        raise RecordingError(f"timeline {name!r} lacks column {error}", path=path) from error
    lanes, meta = tuple(metas[name]["lanes"]), metas[name]["meta"]
    problem = _problem(columns, len(lanes))
    if problem:
        raise RecordingError(f"timeline {name!r}: {problem}", path=path)
    return Timeline(lanes=lanes, meta=meta, **columns)


def _same_case(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Both are known to be of the same technique with the same parameters on the same device."""
    if one.get("technique") is None or one["technique"] != other.get("technique"):
        return False
    both = one.get("params"), other.get("params")
    if not all(isinstance(params, Mapping) for params in both):
        return False
    devices = (device_folder(str(meta.get("device"))) for meta in (one, other))
    return len(set(devices)) == len({params_key(params) for params in both}) == 1


def _problem(columns: Mapping[str, np.ndarray], lanes: int) -> str:
    """What makes columns none of a timeline, or nothing: metrics and figures take all of it for granted."""
    shape, size = columns["lane"].shape, columns["lane"].size
    bounds = {"lane": (0, lanes), "kind": (0, len(KINDS)), "reason": (0, len(REASONS)), "cause": (-1, size)}
    for column, values in columns.items():
        if len(shape) != 1 or values.shape != shape or values.dtype.kind != ("f" if column in _TIMES else "i"):
            kind = "real" if column in _TIMES else "whole"
            return f"column {column}: expected {size} {kind} numbers, got {values.dtype} of shape {values.shape}"
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


def _read(path: Path, wanted: Callable[[str], bool]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays whose names are ``wanted``, and what is in ``meta`` by the name of each timeline.

    Nothing else is unpacked, which is what takes the time.
    """
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {key: _array(path, file, key) for key in file.files if key == "meta" or wanted(key)}
    except RecordingError:
        raise
    except FileNotFoundError as error:
        raise RecordingError("there is no such recording", path=path) from error
    except IsADirectoryError as error:
        raise RecordingError("is a folder; expected a timeline file", path=path) from error
    except _BROKEN as error:
        # What NumPy says is about the container, not about what is expected in it.
        raise RecordingError(f"truncated or not a timeline file; {_EXPECTED}", path=path) from error
    if "meta" not in arrays:
        raise RecordingError(f"lacks part 'meta', which names its timelines; {_EXPECTED}", path=path)
    try:
        return arrays, _metas(arrays.pop("meta").tobytes())
    except ValueError as error:
        raise RecordingError(f"part 'meta' is damaged: {error}", path=path) from error


def _array(path: Path, file: Mapping[str, np.ndarray], key: str) -> np.ndarray:
    try:
        return file[key]
    except _BROKEN as error:
        raise RecordingError(f"part {key!r} is damaged: {error}", path=path) from error


def _metas(text: bytes) -> dict[str, Any]:
    """Lanes and ``meta`` of each timeline by name. Raises ValueError, saying of which timeline something is wrong."""
    try:
        metas = json.loads(text)
    except ValueError as error:
        raise ValueError(f"not JSON ({error})") from error
    if not isinstance(metas, dict):
        raise ValueError("expected an object with an entry for each timeline")  # noqa: TRY004 - one kind for all
    for name, entry in metas.items():
        lanes, meta = (entry.get(key) for key in ("lanes", "meta")) if isinstance(entry, dict) else (None, None)
        if not (isinstance(lanes, list) and all(isinstance(lane, str) for lane in lanes)):
            raise ValueError(f"timeline {name!r}: expected lanes to be a list of names")
        if not isinstance(meta, dict):
            raise ValueError(f"timeline {name!r}: expected meta to be an object")  # noqa: TRY004 - as above
    return metas
