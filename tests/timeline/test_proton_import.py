"""Scopes of warps out of the trace that Proton's instrumentation writes; the file is a part of one from an H200."""

import json
from pathlib import Path

import pytest

from gpusim.errors import RecordingError
from gpusim.timeline.chrome_import import from_chrome_json
from gpusim.timeline.metrics import hidden_fraction
from gpusim.timeline.proton_import import kind_of_scope

TRACE = Path(__file__).with_name("proton_trace.json")
CLOCK_HZ = 2e9


def scope(name, start, end, *, sm=0, cta=0, warp=0):
    """As Proton writes it: cycles as thousandths of a microsecond."""
    place = {"pid": f"k Core{sm} CTA{cta}", "tid": f"warp {warp} (line 0)"}
    return {"ph": "X", "cat": "k", "name": name, "ts": start / 1e3, "dur": (end - start) / 1e3, "args": {}} | place


def read(*events):
    return from_chrome_json(json.dumps({"traceEvents": events}).encode(), CLOCK_HZ)["k"]


def rows(timeline):
    """(lane, kind, start, end) in ns."""
    return [(one.lane, one.kind, round(one.start_s * 1e9, 3), round(one.end_s * 1e9, 3)) for one in timeline]


def test_scopes_are_cycles_from_the_start_of_their_cta_on():
    """That start is in ns; two cycles a nanosecond behind it."""
    found = read(
        scope("load", 100, 300), scope("math", 300, 900), scope("load", 164, 264, sm=3, cta=1, warp=2),
    )  # fmt: skip
    assert rows(found) == [
        ("sm[0].cta[0].warp[0]", "load", 0, 100), ("sm[0].cta[0].warp[0]", "compute", 100, 400),
        ("sm[3].cta[0].warp[2]", "load", 64, 114),
    ]  # fmt: skip
    assert found.total_s == pytest.approx(400e-9)
    assert found.meta["source"] == "measured"


def test_ctas_of_an_sm_take_the_first_free_slot():
    """The third one begins when the first has ended."""
    found = read(scope("math", 0, 200, cta=0), scope("math", 50, 1050, cta=9), scope("math", 150, 350, cta=20))
    assert [(one.lane, round(one.start_s * 1e9)) for one in found] == [
        ("sm[0].cta[0].warp[0]", 0), ("sm[0].cta[0].warp[0]", 150), ("sm[0].cta[1].warp[0]", 50),
    ]  # fmt: skip


def test_the_innermost_scope_counts():
    """What is around others and does not tell what it is counts as nothing."""
    found = read(scope("main loop", 0, 100), scope("load", 20, 40), scope("tile", 40, 60))
    assert rows(found) == [
        ("sm[0].cta[0].warp[0]", "load", 10, 20), ("sm[0].cta[0].warp[0]", "compute", 20, 30),
    ]  # fmt: skip
    assert found.meta["scopes"] == {"main loop": "", "load": "load", "tile": "compute"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("load", "load"), ("Load_A", "load"), ("issue async tma load", "issue"), ("wait for tma load", "wait"),
        ("store_output", "store"), ("softmax", "compute"), ("wgmma", "compute"), ("sync", "barrier"), ("foo", None),
        ("unloaded", None),
    ],
)  # fmt: skip
def test_the_words_of_a_name_tell_the_kind(name, kind):
    """Words, and not letters inside of them."""
    assert kind_of_scope(name) == kind


def test_a_trace_of_triton():
    """Four CTAs on two SMs: rows of a softmax, which a warp loads before it computes."""
    found = from_chrome_json(TRACE.read_bytes(), 1.98e9)["k"]
    assert found.lanes[:2] == ("sm[0].cta[0].warp[0]", "sm[0].cta[0].warp[5]")
    assert len(found) == 24
    assert found.total_s == pytest.approx(2.40e-6, abs=0.01e-6)
    assert 0.0 < hidden_fraction(found) < 0.7


def test_cycles_without_a_clock_are_an_error():
    """That says how to give it."""
    with pytest.raises(RecordingError, match=r"cycles .* --clock 1.98GHz"):
        from_chrome_json(TRACE.read_bytes())
