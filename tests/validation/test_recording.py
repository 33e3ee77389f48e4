"""Recordings survive a round trip, renew single points, and refuse broken files with a reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.errors import RecordingError
from gpusim.timeline import TimelineBuilder
from gpusim.validation.recording import (
    TIMELINES,
    TOTALS,
    TotalRow,
    Totals,
    device_folder,
    find_total,
    is_stale,
    list_timelines,
    load_timeline,
    recorded_devices,
    save_timeline,
    source_hash,
)


@dataclass(frozen=True)
class Params:
    """Two parameters are enough."""

    tile_bytes: int = 4096
    stages: int = 2


def row(stages: int = 2, total_s: float = 1e-4, source: str = "abc") -> TotalRow:
    """A recorded point."""
    return TotalRow(
        params={"tile_bytes": 4096, "stages": stages}, total_s=total_s, min_s=total_s, max_s=total_s, iqr_s=0.0,
        repeats=15, clock_hz=1.98e9, registers=32, local_bytes=0, shared_bytes=1024, max_active_ctas=2,
        source_sha256=source, date="2026-01-01", vector_loop={"FFMA": 4},
    )  # fmt: skip


@pytest.fixture
def technique(tmp_path):
    """A technique folder with a kernel that includes a header."""
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "kernel.cu").write_text('#include "../tile.cuh"\nkernel')
    (tmp_path / "tile.cuh").write_text("loop")
    return SimpleNamespace(name="t", folder=tmp_path / "t")


def totals_path(technique):
    """Where the totals of the H200 lie."""
    return technique.folder / "recorded" / "h200_sxm" / TOTALS


def test_a_totals_file_survives_a_round_trip(tmp_path) -> None:
    """Rows and meta come back equal."""
    totals = Totals("t", {"device": {"name": "NVIDIA H200"}}, [row(1), row(2)])
    totals.save(tmp_path / "a" / TOTALS)
    assert Totals.load(tmp_path / "a" / TOTALS) == totals
    assert [p.name for p in (tmp_path / "a").iterdir()] == [TOTALS]


def test_an_empty_totals_file_survives_a_round_trip(tmp_path) -> None:
    """No rows is a valid file."""
    Totals("t", {}).save(tmp_path / TOTALS)
    assert Totals.load(tmp_path / TOTALS).rows == []


def test_measuring_a_point_again_renews_it() -> None:
    """Same parameters replace, others are added."""
    totals = Totals("t", {}, [row(1), row(2)])
    totals.merge([row(2, 5e-5), row(3)])
    assert [r.params["stages"] for r in totals.rows] == [1, 2, 3]
    assert totals.find({"stages": 2, "tile_bytes": 4096}).total_s == 5e-5


def test_a_recorded_total_is_found_by_its_parameters(technique) -> None:
    """As a Params object or a mapping; None for what was not measured."""
    assert find_total(technique, Params(), "h200_sxm") is None
    Totals("t", {}, [row()]).save(totals_path(technique))
    assert find_total(technique, Params(), "h200_sxm") == row()
    assert find_total(technique, {"tile_bytes": 4096, "stages": 2}, "h200_sxm") == row()
    assert find_total(technique, replace(Params(), stages=3), "h200_sxm") is None
    assert find_total(technique, Params(), "b200") is None
    assert recorded_devices(technique) == ("h200_sxm",)


def test_headers_of_time_stamps_are_of_kernels_with_time_stamps(technique) -> None:
    """A run time was measured without, and stays; a timeline that was taken with them is stale."""
    (technique.folder.parent / "tile.cuh").write_text('#include "probe.cuh"')
    (technique.folder.parent / "probe.cuh").write_text("a stamp")
    source = technique.folder / "kernel.cu"
    total, timeline = (
        row(source=source_hash(source)),
        {"sm_ids": [0], "source_sha256": source_hash(source, instrumented=True)},
    )
    assert not is_stale(technique, total)
    assert not is_stale(technique, timeline)
    (technique.folder.parent / "probe.cuh").write_text("another stamp")
    assert not is_stale(technique, total)
    assert is_stale(technique, timeline)


def test_a_recording_is_stale_once_the_kernel_or_a_header_changes(technique) -> None:
    """The hash covers quoted includes."""
    fresh = row(source=source_hash(technique.folder / "kernel.cu"))
    assert not is_stale(technique, fresh)
    assert not is_stale(technique, {"source_sha256": fresh.source_sha256})
    (technique.folder.parent / "tile.cuh").write_text("another loop")
    assert is_stale(technique, fresh)
    assert is_stale(technique, {})


def some_timeline(shift: float = 0.0):
    """Three intervals on two lanes."""
    builder = TimelineBuilder()
    builder.add("sm[0].cta[0].consumer", "wait", 0.0, 1e-6 + shift, "stage_empty", 0, 0)
    builder.add("sm[0].cta[0].consumer", "compute", 1e-6, 2e-6, "", 0, 0)
    builder.add("sm[0].cta[0].input[0]", "copy", 0.0, 1e-6, "", 0, 0, 4096)
    return builder.build(source="measured", device="h200_sxm", total_s=3e-6)


def test_timelines_survive_a_round_trip_and_are_replaced_by_name(tmp_path) -> None:
    """Columns, lanes and meta come back equal; several share a file."""
    path = tmp_path / TIMELINES
    save_timeline(path, "one", some_timeline(1.0))
    save_timeline(path, "two", some_timeline())
    save_timeline(path, "one", some_timeline())
    assert list(list_timelines(path)) == ["one", "two"]
    loaded = load_timeline(path, "one")
    assert list(loaded) == list(some_timeline())
    assert loaded.lanes == some_timeline().lanes
    assert loaded.meta == some_timeline().meta


def test_a_timeline_replaces_an_older_one_of_the_same_case(tmp_path) -> None:
    """Whatever both are called, and in whatever order the parameters stand; other cases stay."""
    path, case = tmp_path / TIMELINES, {"technique": "t", "params": {"stages": 2, "warps": 4}}
    others = [{"technique": "u"}, {"device": "h100_sxm"}, {"params": {"stages": 3, "warps": 4}}]
    for number, other in enumerate([{}, *others]):
        save_timeline(path, f"case{number}", some_timeline(1.0).with_meta(**case | other))
    again = {"params": {"warps": 4, "stages": 2}, "device": "NVIDIA H200"}
    save_timeline(path, "case-new", some_timeline(2.0).with_meta(**case | again))
    assert list(list_timelines(path)) == ["case1", "case2", "case3", "case-new"]
    assert list(load_timeline(path, "case-new")) == list(some_timeline(2.0))
    with np.load(path) as file:
        assert not [key for key in file.files if key.startswith("case0.")]


def test_timelines_of_no_technique_are_told_apart_by_name(tmp_path) -> None:
    """Nobody looks for them by parameters."""
    for name in ("one", "two"):
        save_timeline(tmp_path / TIMELINES, name, some_timeline().with_meta(technique=None, params={}))
    assert list(list_timelines(tmp_path / TIMELINES)) == ["one", "two"]


def test_a_missing_recording_says_so(tmp_path) -> None:
    """With its path."""
    for read in (Totals.load, list_timelines):
        with pytest.raises(RecordingError, match=r"nothing_here.*no such recording"):
            read(tmp_path / "nothing_here")


def test_an_unknown_timeline_names_those_that_exist(tmp_path) -> None:
    """So that a typing error is found."""
    save_timeline(tmp_path / TIMELINES, "one", some_timeline())
    with pytest.raises(RecordingError, match="it has one"):
        load_timeline(tmp_path / TIMELINES, "two")


@pytest.mark.parametrize("keep", [0, 1, 10, 0.5, 0.9])
def test_a_truncated_file_is_an_error_not_a_crash(tmp_path, keep) -> None:
    """Whatever part of it is left."""
    Totals("t", {}, [row()]).save(tmp_path / TOTALS)
    save_timeline(tmp_path / TIMELINES, "one", some_timeline())
    for name, read in ((TOTALS, Totals.load), (TIMELINES, lambda p: load_timeline(p, "one"))):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[: int(keep * len(whole)) if isinstance(keep, float) else keep])
        with pytest.raises(RecordingError):
            read(tmp_path / name)


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        '{"technique": "t", "meta": {}, "rows": [{}]}',
        "null",
        '{"rows": 3, "technique": 1, "meta": 2}',
        '{"technique": "t", "meta": "abc", "rows": []}',
    ],
)
def test_json_that_is_no_totals_file_is_an_error(tmp_path, content) -> None:
    """Valid JSON of another shape."""
    (tmp_path / TOTALS).write_text(content)
    with pytest.raises(RecordingError):
        Totals.load(tmp_path / TOTALS)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), "fast"])
def test_a_total_that_is_no_time_is_an_error(tmp_path, value) -> None:
    """NaN is not even JSON to us."""
    Totals("t", {}, [row()]).save(tmp_path / TOTALS)
    text = (tmp_path / TOTALS).read_text().replace('"total_s": 0.0001', f'"total_s": {value!r}'.replace("'", '"'))
    (tmp_path / TOTALS).write_text(text.replace("nan", "NaN"))
    with pytest.raises(RecordingError):
        Totals.load(tmp_path / TOTALS)


@pytest.mark.parametrize(("before", "after"), [
    ('"params": {"tile_bytes": 4096, "stages": 2}', '"params": [1]'), ('"iqr_s": 0.0', '"iqr_s": "small"'),
    ('"min_s": 0.0001', '"min_s": -1'), ('"max_s": 0.0001', '"max_s": null'),
])  # fmt: skip
def test_a_row_that_says_something_else_is_an_error(tmp_path, before, after) -> None:
    """Parameters have names, and times are numbers."""
    Totals("t", {}, [row()]).save(tmp_path / TOTALS)
    text = (tmp_path / TOTALS).read_text()
    assert before in text
    (tmp_path / TOTALS).write_text(text.replace(before, after))
    with pytest.raises(RecordingError):
        Totals.load(tmp_path / TOTALS)


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("lane", [0.0, 0.0, 1.0], "lane: expected 3 whole numbers, got float64"),
        ("tile", [0.5, 1.0, 2.0], "tile: expected 3 whole numbers, got float64"),
        ("start_s", [0, 0, 0], "start_s: expected 3 real numbers, got int64"),
        ("cause", [-1, 3, -1], "cause is out of range"),
        ("cause", [-2, -1, -1], "cause is out of range"),
        ("kind", [0, 99, 0], "kind is out of range"),
        ("start_s", [0.0, float("nan"), 0.0], "not finite"),
        ("end_s", [float("inf"), 2e-6, 1e-6], "not finite"),
        ("end_s", [-1.0, 2e-6, 1e-6], "ends before it starts"),
        ("start_s", [1.5e-6, 0.0, 0.0], "ends before"),
        ("lane", [1, 0, 0], "not sorted"),
    ],
)
def test_columns_that_metrics_could_not_read_are_an_error(tmp_path, column, values, words) -> None:
    """A file may come from anybody's probe."""
    timeline = some_timeline()
    assert len(timeline) == 3
    save_timeline(tmp_path / TIMELINES, "one", replace(timeline, **{column: np.array(values)}))
    with pytest.raises(RecordingError, match=words):
        load_timeline(tmp_path / TIMELINES, "one")


def test_lanes_without_names_are_an_error(tmp_path) -> None:
    """Everything else reads them as text."""
    save_timeline(tmp_path / TIMELINES, "one", replace(some_timeline(), lanes=(1, 2)))
    with pytest.raises(RecordingError, match="lanes"):
        load_timeline(tmp_path / TIMELINES, "one")


def test_objects_in_a_timeline_file_are_not_unpickled(tmp_path) -> None:
    """An array of objects is refused."""
    np.savez(tmp_path / TIMELINES, meta=np.array([{"a": 1}], dtype=object))
    with pytest.raises(RecordingError):
        list_timelines(tmp_path / TIMELINES)


def test_lane_numbers_out_of_range_are_an_error(tmp_path) -> None:
    """They would show as an IndexError in some figure otherwise."""
    timeline = some_timeline()
    timeline.lane[:] = 9
    save_timeline(tmp_path / TIMELINES, "one", timeline)
    with pytest.raises(RecordingError, match="out of range"):
        load_timeline(tmp_path / TIMELINES, "one")


def test_devices_have_the_names_of_their_profiles() -> None:
    """The driver's name of a known device, a slug of any other."""
    assert device_folder("NVIDIA H200") == "h200_sxm"
    assert device_folder("NVIDIA L40S (48 GB)") == "nvidia_l40s_48_gb"
