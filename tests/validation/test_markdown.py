"""The generated page and table."""

import pytest

from gpusim.errors import GpusimError
from gpusim.timeline import TimelineBuilder
from gpusim.validation import RecordedCase, accuracy, compare_timelines
from gpusim.validation.markdown import (
    BEGIN,
    END,
    accuracy_page,
    accuracy_table,
    insert_between_markers,
)


def case(stages: int, predicted: float, measured: float, device: str = "d") -> RecordedCase:
    """A case with totals alone."""
    sides = [TimelineBuilder().build(device=device, total_s=total) for total in (predicted, measured)]
    return RecordedCase("made_up", device, {"stages": stages, "warps": 4}, compare_timelines(*sides), rings=("stages",))


def test_table_has_a_row_per_technique_and_one_for_all():
    """With errors in percent."""
    table = accuracy_table(accuracy([case(1, 1.02, 1.0), case(2, 0.9, 0.95)]))
    assert "| `made_up` | 2 | 3.6% | -5.3% | 100% | – | 1 of 1 |" in table
    assert "| **all** | 2 |" in table
    assert "on `d`" not in table


def test_several_devices_have_rows_of_their_own():
    """And stage counts are compared on one device only."""
    table = accuracy_table(accuracy([case(1, 1.02, 1.0), case(2, 0.9, 0.95), case(1, 1.1, 1.0, device="e")]))
    assert "| on `d` | 2 | 3.6% | -5.3% | 100% | – | 1 of 1 |" in table
    assert "| on `e` | 1 | 10.0% | +10.0% | 0% | – | – |" in table


def test_the_share_within_the_band_is_rounded_down_and_the_band_is_named():
    """Of 300 recordings with one far off not all are within; who keeps all of the band is named."""
    good = [case(stages, 1.01, 1.0) for stages in range(1, 300)]
    off = accuracy([*good, case(300, 1.5, 1.0)])
    assert (off.techniques[0].cases_within, off.techniques[0].percent_within) == (299, 99)
    assert "| Within ±8.5% |" in accuracy_table(off)
    assert "| 99% |" in accuracy_table(off)
    assert "kept in every recording by 0 of 1 techniques." in accuracy_table(off)
    assert "Band: mean 3.0%, worst 8.5%, hidden fraction 0.05" in accuracy_table(off)
    assert "kept in every recording by 1 of 1 techniques: `made_up`." in accuracy_table(accuracy(good))
    assert off.as_dict()["techniques"][0]["share_within"] == pytest.approx(299 / 300)


def test_page_lists_every_case_with_the_worst_first():
    """None is left out."""
    page = accuracy_page(accuracy([case(1, 1.02, 1.0), case(2, 0.9, 0.95)]))
    assert page.index("stages=2, warps=4") < page.index("stages=1, warps=4")
    assert "| `made_up` | d | warps=4 | 2 | 2 | 0.0% |" in page


def test_stages_of_several_rings_are_picked_together():
    """Cases differ in both of them; the fewest of equally fast ones are picked."""
    cases = [
        RecordedCase(
            "made_up", "d", {"into": into, "warps": 4, "out": out},
            compare_timelines(*(TimelineBuilder().build(device="d", total_s=total) for total in totals)),
            rings=("into", "out"),
        )
        for (into, out), totals in {(1, 1): (1.2, 1.2), (3, 2): (1.0, 1.0), (2, 2): (1.0, 1.1)}.items()
    ]  # fmt: skip
    report = accuracy(cases)
    (choice,) = report.choices
    assert (choice.params, choice.predicted_best) == ({"warps": 4}, {"into": 2, "out": 2})
    assert (choice.measured_best, choice.loss) == ({"into": 3, "out": 2}, pytest.approx(0.1))
    assert (report.overall.choices, report.overall.choices_right) == (1, 0)
    assert "| `made_up` | d | warps=4 | into=2, out=2 | into=3, out=2 | 10.0% |" in accuracy_page(report)


def test_nothing_recorded_is_said():
    """Instead of an empty table."""
    assert "No recordings" in accuracy_table(accuracy([]))
    assert "No recordings" in accuracy_page(accuracy([]))


def test_table_replaces_what_stands_between_the_markers():
    """Twice gives the same."""
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    once = insert_between_markers(text, "new\n")
    assert once == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    assert insert_between_markers(once, "new\n") == once
    with pytest.raises(GpusimError, match="no markers"):
        insert_between_markers("nothing", "new\n")
