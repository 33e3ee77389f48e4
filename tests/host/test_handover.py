"""Streams whose copies and kernels wait for each other: what is lost between them, against the bench `handover`."""

from __future__ import annotations

import json
from statistics import fmean, median

import pytest

from gpusim import from_data, predict
from tests.bench_rows import RECORDED

OPS = {"both": ("h2d", "d2h"), "in_kernel": ("h2d", "launch"), "out_kernel": ("launch", "d2h"),
       "all": ("h2d", "launch", "d2h")}  # fmt: skip
SIZES = 64 << 10, 256 << 10, 1 << 20
ROUNDS = 48
"""Of each stream; what the first and the last lack does not matter then."""
FREE = dict.fromkeys(("host.cuda.memcpy_async", "host.cuda.launch"), "0.01 us")
"""In the bench all is queued before any of it runs."""


@pytest.fixture(scope="module")
def periods() -> dict[tuple[str, int, int], float]:
    """Seconds from one copy of a direction to the next by pattern, bytes and streams: medians of all runs."""
    found: dict[tuple[str, int, int], list[float]] = {}
    for path in sorted(RECORDED.glob("host/*/host_handover.json")):
        for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
            if row.get("kind") == "period" and row["bytes"] in SIZES:
                found.setdefault((row["pattern"], row["bytes"], row["streams"]), []).append(row["period_s"])
    return {key: median(values) for key, values in found.items()}


@pytest.mark.parametrize(("pattern", "mean", "worst"), [
    ("both", 0.06, 0.16), ("in_kernel", 0.035, 0.09), ("out_kernel", 0.03, 0.085), ("all", 0.055, 0.11),
])  # fmt: skip
def test_periods_are_those_measured(periods, pattern, mean, worst):
    """15 periods of 1, 2, 3, 4 and 8 streams each.

    Those of 1 MiB and several streams, into or out of a kernel, have part in ``copy.turn``, a median over the bench: 8
    of the 60. Nothing else of the profile comes from periods.
    """
    steps = {"h2d": lambda size: {"h2d": size}, "d2h": lambda size: {"d2h": size}, "launch": lambda _: {"launch": "k"}}
    off = []
    for (found, size, streams), measured in periods.items():
        if found != pattern:
            continue
        chunks = streams * ROUNDS
        host = {
            "api": "cuda",
            "streams": streams,
            "kernels": {"k": {"duration": "5 us", "blocks": 1, "threads": 128}},
            "threads": {"main": {"chunks": chunks, "per_chunk": [steps[name](size) for name in OPS[pattern]]}},
        }
        scenario = from_data({"question": "?", "device": {"base": "h200_sxm", "set": FREE}, "host": host})
        off.append(predict(scenario).meta["total_s"] / chunks / measured - 1.0)
        assert abs(off[-1]) <= worst, (size, streams, off[-1])
    assert len(off) == 15
    assert fmean(map(abs, off)) <= mean
