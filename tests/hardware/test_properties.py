"""What must hold for every kernel: conservation, bounds, monotony, determinism."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import Compute, KernelProgram, Load, Mix, Op, Store
from gpusim.timeline import KINDS
from tests.tile_programs import cp_async_ring, one_role, padded, sync_loop, tma_ring, warp_lanes

H200 = load_profile("h200_sxm")
SLACK = 1e-9
FASTER_MAY_BE_SLOWER_BY = {"hbm.read_bandwidth": 0.005, "l2.read_bandwidth": 0.005, "tma.bandwidth": 0.01,
                           "lsu.bandwidth": 0.01}  # fmt: skip
"""By key: streams may fall in step differently when one gets faster, and a faster unit crowds HBM more."""

quick = settings(
    max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.differing_executors]
)


@dataclass(frozen=True)
class Case:
    """A pipeline with random sizes; ``name`` says which."""

    name: str
    program: KernelProgram


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """One of the three pipelines, of a size that is simulated in milliseconds."""
    kind = draw(st.sampled_from(["tma", "cp_async", "sync"]))
    sizes = {
        "tile_bytes": 128 * draw(st.integers(8, 200)), "ffma": draw(st.integers(1, 1500)),
        "warps": draw(st.integers(1, 12)), "tiles": draw(st.integers(1, 60)), "grid": draw(st.integers(1, 900)),
    }  # fmt: skip
    stages, ctas = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    if stages * sizes["tile_bytes"] > 200 * 1024 // ctas:
        stages = 1
    build = {"tma": tma_ring, "cp_async": cp_async_ring}.get(kind)
    program = build(stages, **sizes) if build else sync_loop(**sizes)
    return Case(f"{kind} stages={stages} ctas={ctas} {sizes}", padded(program, ctas))


def run(case, profile=H200, **options):
    """The timeline of a case, every tile simulated unless told otherwise."""
    options.setdefault("exact", True)
    return simulate_kernel(case.program, profile, **options)


@quick
@given(cases())
def test_bytes_are_conserved(case):
    """What the copy units of an SM transferred is what its CTAs asked for.

    `test_sm_classes` counts the CTAs of all SMs.
    """
    timeline = run(case)
    each = (timeline.meta["bytes_read"] + timeline.meta["bytes_written"]) / case.program.grid
    for entry in timeline.meta["sm_classes"]:
        lanes = rf"^{re.escape(entry['lane'])}\."
        ctas = int(timeline.mask(lanes=lanes, kinds=("launch",)).sum())
        units = rf"{lanes}(.*\.)?(tma|lsu|lsu\.store)$"
        moved = timeline.bytes[timeline.mask(lanes=units, kinds=("transfer", "store"))].sum()
        assert moved == pytest.approx(ctas * each, rel=1e-3)


@quick
@given(cases())
def test_traffic_is_counted_tile_by_tile(case):
    """The totals in ``meta`` are the sums over all CTAs and tiles."""
    program = case.program
    tiles = program.grid * program.tiles_per_cta
    traffic = Traffic.of(program)
    tile_bytes = program.rings[0].bytes if program.rings else program.shared_bytes
    per_tile = sum(
        2 * 32 * role.warps * op.mix.ffma for role in program.roles for op in role.body(1) if isinstance(op, Compute)
    )
    assert traffic.flop == tiles * per_tile
    assert traffic.written_bytes == 0
    if program.rings:
        assert traffic.read_bytes == tiles * tile_bytes


@quick
@given(cases())
def test_roofline_is_never_beaten(case):
    """No faster than the bytes at full HBM bandwidth, nor the FLOP at full rate, folded or exact."""
    for exact in (True, False):
        timeline = run(case, trace=False, exact=exact)
        meta = timeline.meta
        assert timeline.total_s * meta["peak_bytes_per_s"] >= meta["bytes_read"] * (1 - SLACK)
        assert timeline.total_s * meta["peak_flop_per_s"] >= meta["flop"] * (1 - SLACK)


@pytest.mark.parametrize("tiles", [10, 200])
def test_roofline_of_writes_is_never_beaten(tiles):
    """Neither by st.global, which no warp waits for."""

    def body(count: int) -> Iterator[Op]:
        for tile in range(count):
            yield Store(16384, tile=tile)

    program = one_role(warps=4, grid=264)
    program = KernelProgram("writes", 264, tiles, (type(program.roles[0])("writer", 4, body),))
    timeline = simulate_kernel(program, H200, trace=False, exact=True)
    assert timeline.total_s >= timeline.meta["bytes_written"] / H200.value("hbm.write_bandwidth")


@quick
@given(cases(), st.sampled_from(sorted(FASTER_MAY_BE_SLOWER_BY)))
def test_more_bandwidth_is_never_slower(case, key):
    """One and a half times the rate of any unit, at most half a percent slower (copy units: one percent)."""
    dimension = "TB/s" if key.endswith("read_bandwidth") else "B/cycle"
    value = H200.value(key) / (1e12 if dimension == "TB/s" else 1)
    faster = H200.overridden({key: f"{1.5 * value} {dimension}"})
    before, after = run(case, trace=False).total_s, run(case, faster, trace=False).total_s
    assert after <= before * (1 + FASTER_MAY_BE_SLOWER_BY[key])


@quick
@given(cases())
def test_lanes_of_warps_do_not_overlap(case):
    """A warp does one thing at a time; nothing begins before 0 or ends after the total."""
    timeline = run(case)
    assert timeline.span_s[0] >= 0
    assert timeline.span_s[1] <= timeline.total_s * (1 + SLACK)
    assert (timeline.end_s >= timeline.start_s).all()
    for lane, rows in warp_lanes(timeline).items():
        start, end = timeline.start_s[rows], timeline.end_s[rows]
        assert (start[1:] >= end[:-1] - SLACK * timeline.total_s).all(), lane


def unit_transfers(timeline):
    """Name, start, end and bytes of what each copy unit loads."""
    transfer = KINDS.index("transfer")
    for number, lane in enumerate(timeline.lanes):
        rows = np.flatnonzero((timeline.lane == number) & (timeline.kind == transfer))
        if len(rows):
            yield lane, timeline.start_s[rows], timeline.end_s[rows], timeline.bytes[rows]


@quick
@given(cases())
def test_no_unit_is_over_capacity(case):
    """When a copy unit is done with a request it has had the time for it and all that it has done before."""
    timeline = run(case)
    rates = {"tma": H200.value("tma.bandwidth"), "lsu": H200.value("lsu.bandwidth")}
    for lane, start, end, moved in unit_transfers(timeline):
        rate = next((rate for unit, rate in rates.items() if f".{unit}" in lane and ".store" not in lane), None)
        if rate is None:
            continue
        # Byte counts of intervals are whole numbers, those of the model are not.
        full = np.cumsum(moved - 1) / (rate * H200.clock_hz)
        assert (end - start[0] >= full - 1e-12).all(), lane


@quick
@given(cases())
def test_one_lane_is_one_row(case):
    """On no lane do two intervals overlap, those of copy units included."""
    timeline = run(case)
    for lane, start, end, _ in unit_transfers(timeline):
        assert (start[1:] >= end[:-1] - SLACK * timeline.total_s).all(), lane


@quick
@given(cases(), st.booleans())
def test_same_input_gives_the_same_bits(case, exact):
    """Twice the same timeline, to the last bit."""
    one, two = run(case, exact=exact), run(case, exact=exact)
    assert one.lanes == two.lanes
    assert one.meta == two.meta
    for column in ("lane", "kind", "start_s", "end_s", "reason", "tile", "stage", "bytes", "cause"):
        assert getattr(one, column).tobytes() == getattr(two, column).tobytes(), column


@quick
@given(cases())
def test_tracing_changes_nothing(case):
    """The total with and without intervals."""
    assert run(case).total_s == run(case, trace=False).total_s


@quick
@given(st.integers(1, 12), st.integers(1, 60), st.integers(1, 400))
def test_more_work_is_never_faster(warps, tiles, ffma):
    """One tile, one instruction more."""

    def total(**sizes):
        return simulate_kernel(tma_ring(2, warps=warps, **sizes), H200, trace=False, exact=True).total_s

    base = total(tiles=tiles, ffma=ffma)
    assert total(tiles=tiles + 1, ffma=ffma) >= base
    assert total(tiles=tiles, ffma=ffma + 1) >= base * (1 - SLACK)


def test_one_sm_class_stands_for_its_sms():
    """The same program with CTAs of equal tile counts listed one by one gives the same time."""
    program = padded(tma_ring(2, tiles=20, grid=264), 2)
    listed = KernelProgram(**{
        **{name: getattr(program, name) for name in program.__dataclass_fields__}, "tiles_per_cta": (20,) * 264
    })  # fmt: skip
    assert run(Case("", listed), trace=False).total_s == pytest.approx(run(Case("", program), trace=False).total_s)


def test_load_and_compute_of_one_warp_add_up():
    """A single warp that waits for its load and then computes: the parts in one lane are the whole."""
    program = one_role(Load(4096), Compute(Mix(ffma=500)), warps=1)
    timeline = simulate_kernel(program, H200)
    (rows,) = warp_lanes(timeline).values()
    spent = float((timeline.end_s - timeline.start_s)[rows].sum())
    launch = timeline.mask(kinds=("launch",))
    assert spent == pytest.approx(timeline.span_s[1] - float(timeline.end_s[launch].max()))
