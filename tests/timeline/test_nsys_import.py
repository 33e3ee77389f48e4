"""Timelines out of the SQLite export of Nsight Systems."""

import sqlite3
from contextlib import closing

import pytest

from gpusim.errors import RecordingError
from gpusim.timeline.nsys_import import from_nsys

TABLES = {
    "StringIds": "id INTEGER, value TEXT",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start INT, end INT, deviceId INT, streamId INT, shortName INT",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start INT, end INT, deviceId INT, streamId INT, bytes INT, copyKind INT",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start INT, end INT, globalTid INT, nameId INT",
    "TARGET_INFO_GPU": "name TEXT",
}
ROWS = {
    "StringIds": [(1, "cudaStreamSynchronize_v3020")],
    "CUPTI_ACTIVITY_KIND_KERNEL": [(2000, 5000, 0, 13, 9), (0, 0, 0, 13, 9)],
    "CUPTI_ACTIVITY_KIND_MEMCPY": [(1000, 2000, 0, 7, 4096, 1)],
    "CUPTI_ACTIVITY_KIND_RUNTIME": [(2500, 6000, 77, 1), (3000, 3500, 77, 1)],
    "TARGET_INFO_GPU": [("NVIDIA H200",)],
}


@pytest.fixture
def report(tmp_path):
    """Writes a report of some of the tables."""

    def write(tables=TABLES, rows=ROWS):
        path = tmp_path / "report.sqlite"
        with closing(sqlite3.connect(path)) as base:
            for name, columns in tables.items():
                base.execute(f"CREATE TABLE {name} ({columns})")
                for row in rows.get(name, ()):
                    base.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
            base.commit()
        return path

    return write


def test_kernels_copies_and_calls_lie_on_the_lanes_of_a_host_program(report):
    """A record without a time and a call inside another one are left out."""
    found = from_nsys(report())
    rows = [(one.lane, one.kind, round(one.start_s * 1e9), round(one.end_s * 1e9)) for one in found]
    assert rows == [
        ("stream[0]", "copy", 0, 1000), ("copy_engine[h2d]", "transfer", 0, 1000), ("stream[1]", "kernel", 1000, 4000),
        ("host[0]", "wait", 1500, 5000),
    ]  # fmt: skip
    assert found[3].reason == "host_sync"
    assert (found[0].bytes, found.meta["device"], found.total_s) == (4096, "NVIDIA H200", pytest.approx(5e-6))


def test_tables_that_were_not_needed_may_lack(report):
    kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
    assert from_nsys(report({kernels: TABLES[kernels]})).lanes == ("stream[0]",)


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"other": "a INT"}, "no kernel and no copy in it: expected tables"),
        ({"CUPTI_ACTIVITY_KIND_KERNEL": "start INT, end INT"}, "lacks deviceId, streamId"),
    ],
)
def test_what_is_no_report_is_told(report, tables, told):
    with pytest.raises(RecordingError, match=told):
        from_nsys(report(tables, {}))


@pytest.mark.parametrize("kept", [20, 5000])
def test_a_truncated_report_is_told(report, kept):
    path = report()
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(RecordingError, match="truncated or no report of Nsight Systems"):
        from_nsys(path)


def test_times_that_are_words_are_told(report):
    kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
    path = report({kernels: TABLES[kernels]}, {kernels: [("soon", 3, 0, 0, 0)]})
    with pytest.raises(RecordingError, match="no report of Nsight Systems"):
        from_nsys(path)
