"""``export``: timelines for other tools."""

import csv
import json

import pytest


def test_export_chrome_json(answer, path, tmp_path):
    """One complete event per interval, named lanes, microseconds."""
    file = tmp_path / "trace.json"
    told = answer("export", path, file)
    trace = json.loads(file.read_text())
    complete = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(complete) == told["intervals"]["predicted"]
    assert all(event["dur"] >= 0 for event in complete)
    names = {event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    assert "sm[0].cta[0].producer" in names


def test_export_csv(gpusim, path, tmp_path):
    """Times survive exactly."""
    file = tmp_path / "trace.csv"
    assert gpusim("export", path, file)[0] == 0
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert rows[0]["timeline"] == "predicted"
    assert all(float(row["end_s"]) >= float(row["start_s"]) for row in rows)


def test_kernels_of_a_host_program_have_their_names(gpusim, tmp_path):
    """Those of the file, in both formats; what is no kernel has none."""
    text = "question: q\ndevice: textbook\nhost:\n  kernels: {first: {duration: 5 us}, second: {duration: 5 us}}\n"
    path, file = tmp_path / "two.yaml", tmp_path / "trace.json"
    path.write_text(text + "  threads: {main: {chunks: 2, per_chunk: [{launch: first}, {launch: second}]}}\n")
    assert gpusim("export", path, file)[0] == 0
    events = json.loads(file.read_text())["traceEvents"]
    assert [event["name"] for event in events if event.get("cat") == "kernel"] == ["first", "second"] * 2
    assert gpusim("export", path, file.with_suffix(".csv"))[0] == 0
    rows = list(csv.DictReader(file.with_suffix(".csv").read_text().splitlines()))
    assert [row["kernel"] for row in rows if row["kernel"]] == ["first", "second"] * 2
    assert {row["kind"] for row in rows if row["kernel"]} == {"kernel"}


def test_export_to_an_unknown_format_is_an_error(gpusim, path, tmp_path):
    """Naming the ones there are."""
    code, _, err = gpusim("export", path, tmp_path / "trace.xls")
    assert code == 2
    assert ".json, .csv" in err


def test_export_for_perfetto(gpusim, path, tmp_path):
    """Its own format, from an extra package."""
    pytest.importorskip("perfetto")
    file = tmp_path / "trace.pftrace"
    assert gpusim("export", path, file)[0] == 0
    assert b"sm[0]" in file.read_bytes()


def test_export_as_a_page(gpusim, path, tmp_path):
    """That is whole without a server: what draws it is in it."""
    file = tmp_path / "trace.html"
    assert gpusim("export", path, file)[0] == 0
    text = file.read_text()
    assert "How many stages?" in text
    assert "Plotly.newPlot" in text
    assert 'src="http' not in text
