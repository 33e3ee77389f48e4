"""``report``: its rows, and what it looks for first."""

import re

import pytest

from gpusim.timeline import TimelineBuilder
from gpusim.validation import RecordedCase, accuracy, compare_timelines
from gpusim.validation.markdown import BEGIN, END, accuracy_table, summary_cells


def test_report_looks_for_its_folder_first(gpusim, tmp_path, monkeypatch):
    """And for what it is to write into: the comparison takes minutes."""
    monkeypatch.setattr("gpusim.cli.report_command.all_cases", lambda **_: pytest.fail("compared first"))
    code, _, err = gpusim("report", "--folder", tmp_path / "none")
    assert code == 2
    assert err.startswith(f"error: --folder {tmp_path / 'none'}: no such folder")
    code, _, err = gpusim("report", "--write", "--folder", tmp_path)
    assert code == 2
    assert "README.md" in err


def test_a_report_says_what_is_outside_by_a_known_gap(gpusim, monkeypatch):
    """So that a share below 100 % and the exit code of success are no contradiction; the page has the same cells."""
    sides = [TimelineBuilder().build(device="d", total_s=total) for total in (1.5, 1.0)]
    known = RecordedCase("made_up", "d", {}, compare_timelines(*sides, gap="made up as well"))
    monkeypatch.setattr("gpusim.cli.report_command.all_cases", lambda **_: [known])
    code, out, _ = gpusim("report")
    assert code == 0
    (row,) = (line for line in out.splitlines() if line.startswith("made_up"))
    cells = ("1", "50.0%", "+50.0%", "0% (1 known gap)", "–", "–")
    assert tuple(re.split(r"\s{2,}", row.strip())[1:]) == cells
    report = accuracy([known])
    assert summary_cells(report.overall) == cells
    assert f"| **all** | {' | '.join(cells)} |" in accuracy_table(report)


def test_what_is_written_is_also_kept_for_the_dashboard(gpusim, tmp_path, monkeypatch):
    """Of the same cases as the page and the table, so that all three say the same."""
    sides = [TimelineBuilder().build(device="d", total_s=total) for total in (1.05, 1.0)]
    case = RecordedCase("made_up", "d", {}, compare_timelines(*sides))
    kept = []
    monkeypatch.setattr("gpusim.cli.report_command.all_cases", lambda **_: [case])
    monkeypatch.setattr("gpusim.cli.report_command.write_predicted", kept.extend)
    (tmp_path / "README.md").write_text(f"{BEGIN}\n{END}\n")
    assert gpusim("report", "--write", "--folder", tmp_path)[0] == 1  # 5 % are more than a mean error may be
    assert kept == [case]
    assert "made_up" in (tmp_path / "docs" / "accuracy.md").read_text()
