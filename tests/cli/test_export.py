"""``export``: timelines for other tools."""

import csv
import json


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


def test_export_to_an_unknown_format_is_an_error(gpusim, path, tmp_path):
    """Naming the ones there are."""
    code, _, err = gpusim("export", path, tmp_path / "trace.xls")
    assert code == 2
    assert ".json, .csv" in err
