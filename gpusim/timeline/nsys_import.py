"""Timelines out of what ``nsys export --type sqlite`` writes: kernels, copies and calls of CUDA."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from gpusim.errors import RecordingError
from gpusim.timeline.activities import MOST_RECORDS, Activity, from_activities
from gpusim.timeline.timeline import Timeline

__all__ = ["MAGIC", "from_nsys"]

MAGIC = b"SQLite format 3\0"
"""What every SQLite file begins with."""
_NANO = 1e-9
_WAYS = {1: "h2d", 2: "d2h", 8: "d2d", 10: "p2p"}
"""CUpti_ActivityMemcpyKind."""
_KERNELS, _COPIES, _SETS, _CALLS = (f"CUPTI_ACTIVITY_KIND_{name}" for name in ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME"))
_COLUMNS = {
    _KERNELS: ("start", "end", "deviceId", "streamId"),
    _COPIES: ("start", "end", "deviceId", "streamId", "bytes", "copyKind"),
    _SETS: ("start", "end", "deviceId", "streamId", "bytes"),
    _CALLS: ("start", "end", "globalTid", "nameId"),
}


def from_nsys(path: Path) -> Timeline:
    """The trace of a report, on the lanes of `from_activities`.

    Tables that a report lacks are taken as empty: Nsight Systems writes those that it needs.
    Raises RecordingError (without the path) where it is no report, or has no kernel and no copy.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as base:
            found = list(_activities(base))
            device = _device(base)
    except RecordingError:
        raise
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise RecordingError(f"truncated or no report of Nsight Systems ({error})") from error
    if all(one.what == "call" for one in found):
        raise RecordingError(
            f"no kernel and no copy in it: expected tables {_KERNELS} or {_COPIES}, as written by "
            "nsys profile --trace=cuda, then nsys export --type sqlite"
        )
    return from_activities(found).with_meta(method="Nsight Systems", **({"device": device} if device else {}))


def _activities(base: sqlite3.Connection) -> Iterator[Activity]:
    names = {key: str(text) for key, text in _rows(base, "StringIds", ("id", "value"))}
    for start, end, device, stream in _records(base, _KERNELS):
        yield Activity("kernel", start * _NANO, end * _NANO, device, stream)
    for start, end, device, stream, size, way in _records(base, _COPIES):
        yield Activity("copy", start * _NANO, end * _NANO, device, stream, engine=_WAYS.get(way, "other"), bytes=size)
    for start, end, device, stream, size in _records(base, _SETS):
        yield Activity("copy", start * _NANO, end * _NANO, device, stream, engine="d2d", bytes=size)
    for start, end, thread, name in _records(base, _CALLS):
        yield Activity("call", start * _NANO, end * _NANO, place=thread, name=names.get(name, ""))


def _records(base: sqlite3.Connection, table: str) -> Iterator[tuple[int, ...]]:
    """Rows of whole numbers; those without a time are left out."""
    for row in _rows(base, table, _COLUMNS[table]):
        start, end, *more = (int(value or 0) for value in row)
        if start and end:
            yield start, end, *more


def _rows(base: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[tuple]:
    """Rows of a table that may not be there. Raises RecordingError where it lacks a column or is too long."""
    there = {row[1] for row in base.execute(f'PRAGMA table_info("{table}")')}
    if not there:
        return
    missing = [column for column in columns if column not in there]
    if missing:
        raise RecordingError(f"table {table} lacks {', '.join(missing)}: of a version of nsys that is not known")
    # Names are those of this module: none comes from the file.
    count = base.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()[0]  # noqa: S608
    if count > MOST_RECORDS:
        raise RecordingError(
            f"table {table} has {count:,} rows, at most {MOST_RECORDS:,} are read; trace a shorter run"
        )
    named = ", ".join(f'"{column}"' for column in columns)
    yield from base.execute(f'SELECT {named} FROM "{table}"')  # noqa: S608


def _device(base: sqlite3.Connection) -> str:
    """What the driver calls the first device, where the report says it."""
    try:
        return next((str(name) for (name,) in _rows(base, "TARGET_INFO_GPU", ("name",))), "")
    except RecordingError:
        return ""
