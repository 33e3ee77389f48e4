"""Streams, copies and the host: the model against runs on the H200, within the claimed bands."""

from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from gpusim import load
from gpusim.hardware.profile import load_profile
from gpusim.scenario import predict_params, techniques
from gpusim.timeline.bottleneck import bottleneck
from gpusim.timeline.metrics import hidden_fraction
from gpusim.validation import measurement_of
from gpusim.validation.band import known_gaps
from gpusim.validation.recording import TIMELINES, list_timelines, load_timeline
from tests.recorded.predictions import DEVICE, points

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
NAMES = (
    "stream_pipeline", "pageable_copies", "allocators", "default_streams", "event_graph", "host_callback_pool",
    "concurrent_kernels", "copy_engines", "cuda_graph", "two_level", "fused_softmax_scale",
    "layer_pipeline", "gradient_overlap", "multi_gpu_pipeline",
)  # fmt: skip
# Recordings are medians of five machines, whose runs of one configuration lie up to a factor of 1.8 apart: a launch
# from Python takes 5 us on one and 10 on another. What is wrong is what lies beyond all of their runs.
MEAN = {
    "stream_pipeline": 0.03,
    "host_callback_pool": 0.08,  # two threads that wake each other up, 20 or 200 us after they fell asleep
}
BEYOND = 0.10
HIDDEN = {
    # Hosts copy ordinary memory at 8 to 15 GB/s, the one that was traced at 8: with that rate 0.35 are predicted to be
    # hidden, 0.34 were, and 0.54 are with the median one. 0.08 while the trace was of a quicker host.
    "pageable_copies": 0.21,
    # A ring of one slot: how late its host function wakes up decides what overlaps. Traced on three hosts it hid 0.15,
    # 0.20 and 0.21. 0.11 while only the first had been.
    "host_callback_pool": 0.15,
    # 0.05 until the oldest CTA of an SM went first; totals came nearer (2.6 to 2.4 %).
    "two_level": 0.065,
}
VARIANTS = {
    "allocators": "mode", "default_streams": "stray", "event_graph": "ordering", "host_callback_pool": "slots",
    "pageable_copies": "memory", "cuda_graph": "mode", "two_level": "streams", "stream_pipeline": "streams",
    "layer_pipeline": "allocation", "gradient_overlap": "overlap", "multi_gpu_pipeline": "slots",
}  # fmt: skip
"""The parameter whose values are ranked, all others being equal."""


@cache
def cases(name):
    """(parameters, (median, least, most) measured, predicted, whether it is a known gap) of each configuration."""
    gaps = known_gaps(techniques()[name].folder)
    return [
        (dict(row.params), (row.total_s, row.min_s, row.max_s), point.predicted_s,
         any(gap.covers(DEVICE, row.params) for gap in gaps))
        for point in points(name) for row in [point.row]
    ]  # fmt: skip


def errors(name):
    return np.array([predicted / measured[0] - 1.0 for _, measured, predicted, gap in cases(name) if not gap])


def beyond(name):
    """How far predictions lie above the slowest or below the fastest run of any machine."""
    return np.array([
        max(predicted / most - 1.0, 1.0 - predicted / least, 0.0)
        for _, (_, least, most), predicted, gap in cases(name) if not gap
    ])  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_totals_are_within_the_band(name):
    if not len(errors(name)):
        pytest.skip("every configuration is a known gap")
    assert np.abs(errors(name)).mean() <= MEAN.get(name, 0.05)
    assert beyond(name).max() <= BEYOND


@pytest.mark.parametrize("name", NAMES)
def test_known_gaps_are_still_gaps(name):
    """A gap that has closed must be taken out of ``known_gaps.yaml``."""
    for gap in known_gaps(techniques()[name].folder):
        covered = [predicted / measured[0] - 1.0 for params, measured, predicted, _ in cases(name)
                   if gap.covers(DEVICE, params)]  # fmt: skip
        assert covered, f"{gap.params} covers nothing"
        assert max(map(abs, covered)) > 0.08, f"{gap.params} is within the band"


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_are_ranked_as_measured(name):
    """Two configurations that differ in one parameter, and clearly in time, come in the measured order.

    Clearly: by more than 5 %, and the slowest run of one is faster than the fastest of the other.
    """
    key = VARIANTS[name]
    compared, wrong = 0, []
    for (a, measured_a, predicted_a, gap_a), (b, measured_b, predicted_b, gap_b) in combinations(cases(name), 2):
        same = all(a[other] == b[other] for other in a if other != key)
        slow, fast = max(measured_a, measured_b), min(measured_a, measured_b)
        clear = slow[0] > 1.05 * fast[0] and slow[1] > fast[2]
        if same and clear and not (gap_a or gap_b):
            compared += 1
            if (predicted_a > predicted_b) != (measured_a > measured_b):
                wrong.append((a, b))
    if not compared:
        pytest.skip("no two of them are clearly apart on every machine")
    assert wrong == []


@pytest.mark.parametrize(("size", "kernel_s"), [(256 << 20, 4.8e-3), (32 << 20, 0.3e-3)])
def test_the_best_chunks_and_streams_are_found(size, kernel_s):
    """The configuration predicted to be fastest is within 2.5 % of the fastest one measured.

    Not 2 %, because the runs of one configuration lie 10 % and more apart: of 32 MiB in 16 chunks, three, four and
    eight streams take 811, 802 and 794 us in the median of five machines, and 800, 790 and 784 on the fastest.
    """
    wanted = {"bytes": size, "kernel_s": kernel_s, "memory": "pinned", "order": "depth", "footprint": "full",
              "allocation": "none"}  # fmt: skip
    grid = [case for case in cases("stream_pipeline") if all(case[0][key] == value for key, value in wanted.items())]
    assert len(grid) > 35
    chosen = min(grid, key=lambda case: case[2])
    assert chosen[1][0] <= 1.025 * min(case[1][0] for case in grid)


def regime(params):
    """What its three parts take alone. One must hold a pipeline back that takes 85 % of the time, the others less."""
    value = load_profile(DEVICE).value
    copy_s = params["bytes"] / value("copy.h2d_bandwidth") + params["chunks"] * value("copy.h2d_overhead")
    calls_s = params["chunks"] * (value("host.cupy.launch") + 2 * value("host.cupy.memcpy_async"))
    return {"kernels": params["kernel_s"], "copy engine": copy_s, "host": calls_s}


def test_regimes_are_named():
    """Pipelines that are clearly bound by their kernels, their copies or their host are called that."""
    technique = techniques()["stream_pipeline"]
    seen = set()
    for params, measured, _, gap in cases("stream_pipeline"):
        ranked = sorted((seconds / measured[0], name) for name, seconds in regime(params).items())
        clear = [ranked[-1][1]] if ranked[-1][0] > 0.85 and ranked[-2][0] < 0.7 else []
        if params["memory"] == "pageable" or gap or len(clear) != 1:
            continue
        named = bottleneck(predict_params(technique, technique.make_params(params), DEVICE)).name
        assert named.replace("_", " ").startswith(clear[0]), params
        seen.add(clear[0])
    assert seen == {"kernels", "copy engine", "host"}


def timelines():
    for name in NAMES:
        path = techniques()[name].folder / "recorded" / DEVICE / TIMELINES
        for case, meta in list_timelines(path).items():
            yield pytest.param(name, case, meta, id=f"{name}-{case}")


def engine_order(timeline, engine):
    """Chunks in the order in which an engine copied them."""
    rows = [i for i in timeline if i.lane == f"copy_engine[{engine}]"]
    return [row.tile for row in sorted(rows, key=lambda row: row.start_s)]


@pytest.mark.parametrize(("name", "case", "meta"), list(timelines()))
def test_overlap_and_engine_order_are_as_traced(name, case, meta):
    """Hidden fraction within 0.05 (`HIDDEN`) of the trace; copies of each engine in its order, up to neighbours."""
    technique = techniques()[name]
    if any(gap.covers(DEVICE, meta["params"]) for gap in known_gaps(technique.folder)):
        pytest.skip("known gap")
    measured = load_timeline(technique.folder / "recorded" / DEVICE / TIMELINES, case)
    predicted = predict_params(technique, technique.make_params(meta["params"]), DEVICE)
    orders = {engine: (engine_order(predicted, engine), engine_order(measured, engine)) for engine in ("h2d", "d2h")}
    for ours, theirs in orders.values():
        assert sorted(ours) == sorted(theirs)
    if abs(meta["overhead"]) >= 0.10:
        pytest.skip("the trace took much longer than the run itself: another overlap, and queues that are never full")
    left, right = hidden_fraction(predicted), hidden_fraction(measured)
    if not (np.isnan(left) or np.isnan(right)):
        assert left == pytest.approx(right, abs=HIDDEN.get(name, 0.05))
    for ours, theirs in orders.values():
        # Of streams that wait at the same time any may go first: a copy comes at most a round of them early or late.
        streams = meta["params"].get("streams", 1)
        moved = max((abs(ours.index(chunk) - at) for at, chunk in enumerate(theirs)), default=0)
        assert moved < 2 * streams


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"copy_engines"}))  # that one asks what other engines would do
def test_its_scenario_was_measured(name):
    """So that the first thing one sees of a technique is a prediction beside its measurement."""
    (path,) = [path for path in SCENARIOS.glob("*.yaml") if path.stem in (name, name.removesuffix("_scale"))]
    assert measurement_of(load(path)) is not None
