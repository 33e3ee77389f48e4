"""One copy, or a few, against its closed form on the textbook device (1 GHz, copies at 32 B/cycle)."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from statistics import fmean

import numpy as np
import pytest

from gpusim.engine import Simulation
from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.demand import Demand
from gpusim.hardware.memory.l2_and_hbm import Memory
from gpusim.hardware.memory.loaded_latency import among_loads
from gpusim.program import (
    WARP_SIZE,
    CommitGroup,
    Compute,
    CpAsync,
    Load,
    Mix,
    Ring,
    Role,
    Store,
    SyncThreads,
    TmaLoad,
    WaitFull,
    WaitGroup,
    WaitLoads,
)
from tests.bench_rows import rows
from tests.tile_programs import NS, RING, kernel, one_role, textbook, total_ns

SIZE = 4096
COPY = SIZE / 32
"""Cycles a copy occupies its unit."""


def tma(count=1, grid=1, **fields):
    """``count`` bulk copies issued at once; one warp waits for all of them."""

    def body(_tiles):
        for tile in range(count):
            yield TmaLoad(RING, SIZE, tile=tile, **fields)
        for tile in range(count):
            yield WaitFull(RING, tile=tile)

    return kernel(Role("worker", 1, body), tiles=count, grid=grid, rings=(Ring(RING, max(count, 1), SIZE),))


def cp_async(grid=1, **fields):
    """One group of cp.async by four warps (2 instructions each), waited for."""
    ops = (CpAsync(RING, SIZE, tile=0, **fields), CommitGroup(), WaitGroup(0))
    return one_role(*ops, warps=4, grid=grid, rings=(Ring(RING, 1, SIZE),))


@pytest.mark.parametrize(
    ("program", "key", "issue"),
    [(tma(), "tma.l2_latency", 0), (cp_async(), "lsu.cp_async_l2_latency", 2),
     (one_role(Load(SIZE), warps=4), "lsu.ldg_l2_latency", 2)],
    ids=["tma", "cp_async", "ld_global"],
)  # fmt: skip
def test_copy_takes_issue_transfer_and_latency(program, key, issue):
    """T = issue + 4096 / 32 + latency."""
    assert total_ns(program) == pytest.approx(issue + COPY)
    assert total_ns(program, textbook(**{key: "100 cycles"})) == pytest.approx(issue + COPY + 100)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_copies_of_one_unit_queue_and_their_latencies_overlap(count):
    """T = n × L + latency: FIFO in the unit, pipelined behind it."""
    assert total_ns(tma(count), textbook(tma__l2_latency="100 cycles")) == pytest.approx(count * COPY + 100)


def test_independent_loads_share_one_latency():
    """Two batches without waiting: 2 × (issue + …) on the unit, one latency."""
    ops = (Load(SIZE, wait=False), Load(SIZE, wait=False), WaitLoads())
    ns = total_ns(one_role(*ops, warps=4), textbook(lsu__ldg_l2_latency="100 cycles"))
    assert ns == pytest.approx(2 + 2 * COPY + 100)


@pytest.mark.parametrize(("pending", "copies"), [(0, 3), (1, 2), (2, 1)])
def test_the_youngest_loads_may_stay_under_way(pending, copies):
    """Three loads one behind the other; a wait that spares some of them ends with the last that it does not."""
    ops = (*[Load(SIZE, wait=False)] * 3, WaitLoads(pending))
    ns = total_ns(one_role(*ops, warps=4), textbook(lsu__ldg_l2_latency="100 cycles"))
    assert ns == pytest.approx(2 + copies * COPY + 100)


def test_a_load_that_was_spared_is_waited_for_later():
    """Arithmetic on the first passes while the second comes."""
    ops = (Load(SIZE, wait=False), Load(SIZE, wait=False), WaitLoads(1), Compute(Mix(ffma=10)), WaitLoads())
    ns = total_ns(one_role(*ops, warps=4), textbook(lsu__ldg_l2_latency="100 cycles"))
    assert ns == pytest.approx(2 + 2 * COPY + 100)


def test_a_load_of_no_bytes_only_counts():
    """As those of tiles that never come do."""
    ops = (Load(SIZE, wait=False), Load(0, wait=False), WaitLoads(1))
    assert total_ns(one_role(*ops, warps=4)) == pytest.approx(total_ns(one_role(*ops[:1], WaitLoads(), warps=4)))


@pytest.mark.parametrize(("l1_hit", "expected"), [(1.0, 40), (0.5, COPY / 2 + 100), (0.0, COPY + 100)])
def test_what_l1_holds_is_not_asked_for(l1_hit, expected):
    """All in L1: its latency alone; else the rest comes as from L2."""
    device = textbook(lsu__ldg_l2_latency="100 cycles", lsu__ldg_l1_latency="40 cycles")
    program = one_role(Load(SIZE, l1_hit=l1_hit), warps=4)
    assert total_ns(program, device) == pytest.approx(2 + expected)
    assert simulate_kernel(program, device).meta["bytes_read"] == pytest.approx((1.0 - l1_hit) * SIZE)


@pytest.mark.parametrize("warps", [1, 8])
def test_warps_end_groups_of_copies_one_after_another(warps):
    """Each takes 3 cycles of one unit of the SM; warps that come 2 cycles apart wait for 1 of each other's."""
    program, device = one_role(CommitGroup(), WaitGroup(), warps=warps), {"lsu__commit_interval": "3 cycles"}
    assert total_ns(program, textbook(**device)) == pytest.approx(3 * warps)
    apart = one_role(SyncThreads(), CommitGroup(), warps=warps)
    device["barrier__release_per_warp"] = "2 cycles"
    assert total_ns(apart, textbook(**device)) == pytest.approx(2 * warps + 3 + (warps - 1))


def test_dram_is_further_than_l2_by_the_slowest_line():
    """Slowest of 32 lines, extra = 50 + (80 - 50) × (1 - exp(-(lines - 1) / 20)), 32 lines; nothing with all in L2."""
    dram = {"dram.latency": "50 cycles", "dram.latency_many_lines": "80 cycles", "dram.many_lines": 20}
    extra = 50 + 30 * (1 - exp(-31 / 20))
    assert total_ns(tma(), textbook(**dram)) == pytest.approx(COPY + extra)
    assert total_ns(tma(l2_hit=1.0), textbook(**dram)) == pytest.approx(COPY)


@pytest.mark.parametrize(("grid", "expected"), [(132, 4096), (66, 2048), (33, 1024), (1, 128)])
def test_hbm_is_shared_by_the_sms_that_read(grid, expected):
    """T = grid × 4096 / 132 GB/s, but never faster than the SM's own copy unit."""
    assert total_ns(tma(grid=grid), textbook(hbm__read_bandwidth="132 GB/s")) == pytest.approx(expected)


def test_l2_hits_do_not_draw_on_hbm():
    """With half the bytes in L2 HBM has half to deliver: 132 × 2048 / 132 GB/s."""
    device = textbook(hbm__read_bandwidth="132 GB/s")
    assert total_ns(tma(grid=132, l2_hit=0.5), device) == pytest.approx(2048)
    assert total_ns(tma(grid=132, l2_hit=1.0), device) == pytest.approx(COPY)


def test_l2_bandwidth_binds_even_on_hits():
    """T = 132 × 4096 / 264 GB/s."""
    device = textbook(l2__read_bandwidth="264 GB/s")
    assert total_ns(tma(grid=132, l2_hit=1.0), device) == pytest.approx(2048)


def test_port_is_shared_by_the_units_of_an_sm():
    """A bulk copy and a load of another role, 4096 B each, through a port of 32 B/cycle: 2 × 128."""
    loader = Role("loader", 4, lambda _tiles: iter([Load(SIZE)]))
    both = kernel(*tma().roles, loader, rings=tma().rings)
    assert total_ns(both) == pytest.approx(COPY + 2)
    assert total_ns(both, textbook(sm__port_bandwidth="32 B/cycle")) == pytest.approx(2 * COPY, abs=2.1)


@pytest.mark.parametrize(("align", "efficiency"), [(128, 1.0), (32, 1.0), (16, 0.5), (0, 1.0)])
def test_copies_off_a_sector_waste_hbm_bandwidth(align, efficiency):
    """T = 132 × 4096 / (132 GB/s × efficiency of sectors); 0 stands for the alignment of the size."""
    device = textbook(hbm__read_bandwidth="132 GB/s", tma__unaligned_sector_efficiency=0.5)
    assert total_ns(tma(grid=132, align=align), device) == pytest.approx(4096 / efficiency)


@pytest.mark.parametrize(
    ("few", "crowd", "many", "rate"),
    [
        (528, 600, 1024, 1.0),
        (527, 528, 1024, 0.8),
        (464, 592, 1024, 0.9),
        (264, 396, 660, 0.9),
        (264, 396, 528, 1.0),
    ],
)
@pytest.mark.parametrize("count", [1, 4])
def test_copies_off_a_line_are_held_up_between_the_halves_of_l2(count, few, crowd, many, rate):
    """4 KiB by each of 132 SMs are 528 KiB, as only one of four copies is under way: too few, a crowd, or in between.

    From few to a crowd the rate falls to that of the fabric, 0.8 of HBM's; from there to many it rises again.
    """
    device = textbook(
        hbm__read_bandwidth="132 GB/s",
        l2__fabric_bandwidth="105.6 GB/s",
        tma__off_line_few_under_way=f"{few} KiB",
        tma__off_line_crowd_under_way=f"{crowd} KiB",
        tma__off_line_many_under_way=f"{many} KiB",
    )
    body = [op for tile in range(count) for op in (TmaLoad(RING, SIZE, tile=tile, align=32), WaitFull(RING, tile=tile))]
    ring = Ring(RING, count, SIZE)
    program = kernel(Role("worker", 1, lambda _tiles: iter(body)), tiles=count, grid=132, rings=(ring,))
    assert total_ns(program, device) == pytest.approx(count * SIZE / rate, rel=1e-5)
    lost = simulate_kernel(program, device).meta["off_line_loss"]
    assert lost == pytest.approx(1.0 - rate, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(
    ("align", "per_byte"),
    [(128, 1 / 32), (64, (1 / 32 + 1 / 16) / 2), (32, (1 / 32 + 3 / 16) / 4), (16, (1 / 32 + 3 / 16 + 4 / 8) / 8)],
)
def test_an_sm_takes_in_misaligned_copies_more_slowly(align, per_byte):
    """Mean over the places of a line where a copy can start: on it, off it, off a sector; each SM for itself."""
    slow = textbook(tma__off_line_bandwidth="16 B/cycle", tma__off_sector_bandwidth="8 B/cycle")
    for grid in (1, 132):
        assert total_ns(tma(grid=grid, align=align), slow) == pytest.approx(SIZE * per_byte)


def test_a_crowd_stays_together_for_a_while():
    """Contention × load × what meets: all of a short copy, half of one as long as SMs are in step; and the queue."""
    assert among_loads(0.5, 1.0, 0.4, 1000.0, 0.0) == pytest.approx(0.2, rel=2e-3)
    assert among_loads(0.5, 1000.0, 0.4, 1000.0, 0.0) == pytest.approx(100.0)
    assert among_loads(0.5, 1000.0, 0.4, 1000.0, 11.0) == pytest.approx(110.0)


def test_among_loads_is_what_the_bench_shows():
    """Copies of 4 to 64 KiB, waited for and followed by a pause on every SM: their latency within 10 %."""
    profile = load_profile("h200_sxm")
    clock, read = profile.clock_hz, profile.value("hbm.read_bandwidth")
    times = [profile.value(f"hbm.{name}_time") * clock for name in ("burst", "queue")]
    among = profile.value("hbm.burst_contention"), *times
    latency: dict[int, dict[float, float]] = {}
    apart = [row for row in rows("burst") if row["delay"] and row["bytes_per_s"] < 0.9 * read]
    assert len(apart) == 39
    for row in apart:
        found = latency.setdefault(row["bytes"], {})
        found[row["bytes_per_s"] / read] = row["period_cycles"] - row["delay"]
    for size, found in latency.items():
        crowd = {load: among_loads(load, size * 132 / read * clock, *among) for load in found}
        idle = np.median([cycles - crowd[load] for load, cycles in found.items()])
        for load, cycles in found.items():
            assert idle + crowd[load] == pytest.approx(cycles, rel=0.1), (size, load)


def test_reserve_lets_a_copy_spend_what_others_left():
    """HBM idle for 4096 ns saves one tile per CTA; the next copies then run at the unit's own rate."""

    def body(_tiles):
        for tile in range(2):
            yield TmaLoad(RING, SIZE, l2_hit=float(tile == 0), tile=tile)
            yield WaitFull(RING, tile=tile)

    program = kernel(Role("worker", 1, body), tiles=2, grid=132, rings=(Ring(RING, 2, SIZE),))
    # Nothing was saved when the first tile came from L2 within 128 ns: at most 128 of 4096 bytes' time.
    ns = total_ns(program, textbook(hbm__read_bandwidth="132 GB/s"))
    assert COPY + SIZE - 2 * COPY <= ns <= COPY + SIZE


def test_the_slowest_warp_of_a_cta_is_as_late_as_measured():
    """What a barrier behind loads from DRAM waits longer than behind loads from L2, HBM nearly idle."""
    profile = load_profile("h200_sxm")
    latency = Memory(Simulation(), profile, 132, Demand(1e6, 10)).latency
    alike = {"lane_bytes": 16, "storing": False, "ctas_per_sm": 1, "pause": 1500}
    meeting = {(row["source"], row["warps"]): row["met_cycles"] - row["own_cycles"]
               for row in rows("meeting") if alike.items() <= row.items()}  # fmt: skip
    for warps in (1, 2, 4, 8, 16):
        late = (latency.spread_s(4.0 * warps) - latency.spread_s(4.0)) * profile.clock_hz
        assert late == pytest.approx(meeting["dram", warps] - meeting["l2", warps], abs=40), warps


@pytest.mark.parametrize("order", ["in turn", "anywhere", "parts"])
@pytest.mark.parametrize("lane_bytes", [4, 16])
def test_a_turn_waits_for_the_slowest_of_pieces_far_apart(order, lane_bytes):
    """Eight warps that meet, each with a piece of its own: side by side, or far from each other."""
    h200 = load_profile("h200_sxm")
    (row,) = rows("walk", source="dram", lane_bytes=lane_bytes, order=order, streams=1, meeting=True, ctas=132, warps=8,
                  turns=256)  # fmt: skip
    (alone,) = rows("walk", source="dram", lane_bytes=lane_bytes, order=order, streams=1, meeting=True, ctas=132,
                    warps=1, turns=256)  # fmt: skip
    latency = Memory(Simulation(), h200, 132, Demand(1e6, 10)).latency
    lines, pieces = lane_bytes * WARP_SIZE / 128, 1.0 if order == "in turn" else 8.0
    later = (latency.spread_s(8 * lines, pieces) - latency.spread_s(lines)) * h200.clock_hz
    # The barrier of eight warps takes longer than that of one, too.
    barrier = 7 * (h200.value("barrier.arrive_per_warp") + h200.value("barrier.release_per_warp"))
    assert later + barrier == pytest.approx(row["turn_cycles"] - alone["turn_cycles"], abs=60)


@pytest.mark.parametrize("streams", [2, 4])
def test_a_warp_waits_for_the_slowest_of_its_streams(streams):
    """Loads that are ops of their own are late by chances of their own; from L2 none is."""
    h200 = load_profile("h200_sxm")

    def turn(count):
        loads = [Load(128, width=4, wait=False) for _ in range(count)]

        def body(tiles):
            for tile in range(tiles):
                yield from (replace(one, tile=tile) for one in loads)
                yield WaitLoads(tile=tile)

        program = kernel(Role("worker", 1, body), tiles=64, grid=132)
        return simulate_kernel(program, h200, exact=True, trace=False).total_s / 64 * h200.clock_hz

    def measured(source, count):
        alike = {"lane_bytes": 4, "order": "anywhere", "meeting": False, "ctas": 132, "warps": 1, "turns": 256}
        return rows("walk", source=source, streams=count, **alike)[0]["load_cycles"]

    later = measured("dram", streams) - measured("dram", 1) - measured("l2", streams) + measured("l2", 1)
    issue = (streams - 1) * h200.value("lsu.ldg_interval")
    assert turn(streams) - turn(1) - issue == pytest.approx(later, abs=50)


def test_a_barrier_behind_loads_waits_for_the_slowest_warp():
    """Eight warps, 512 bytes each: the slowest of 32 lines comes later than the slowest of four."""
    device = {"dram__latency": "100 cycles", "dram__latency_many_lines": "1100 cycles", "dram__many_lines": "200"}

    def meets(_tiles):
        yield Load(8 * 512)
        yield SyncThreads()

    timeline = simulate_kernel(kernel(Role("worker", 8, meets)), textbook(**device), exact=True)
    (wait,) = [i for i in timeline if i.kind == "wait" and i.reason == "barrier"]
    assert wait.duration_s / NS == pytest.approx(1000 * (exp(-3 / 200) - exp(-31 / 200)), rel=0.01)


def test_cp_async_is_as_fast_as_source_and_destination_agree():
    """Not where each begins counts but how far apart they do: whole lines, sectors, or neither (bench `shifted`)."""
    profile = load_profile("h200_sxm")
    places = ("lsu.cp_async_off_sector_bandwidth", "lsu.cp_async_off_line_bandwidth", "lsu.bandwidth")
    found: dict[str, list[float]] = {place: [] for place in places}
    for row in rows("shifted", warps=16):
        apart = (row["source"] - row["target"]) % 128
        found[places[2 if not apart else 1 if apart % 32 == 0 else 0]].append(row["bytes_per_cycle"])
    assert [len(values) for values in found.values()] == [24, 18, 7]
    assert min(found["lsu.bandwidth"]) > 1.1 * max(found["lsu.cp_async_off_line_bandwidth"])
    assert fmean(found[places[1]]) == pytest.approx(profile.value(places[1]), rel=0.1)
    assert fmean(found[places[0]]) == pytest.approx(profile.value(places[0]), rel=0.1)


COPIES = [row for row in rows("in_order", kind="pieces", op="copy", in_order=True) if row["turns"] < 16]


def copies_s(row):
    """What a CTA of the bench adds, which reads and writes a piece, as many of them at a time on an SM."""
    size = 16 * row["threads"] * row["unroll"]

    def body(tiles):
        yield Compute(Mix(setup=10, ldc=4))
        for tile in range(tiles):
            yield Load(size, width=16, other=2, tile=tile)
            yield Store(size, width=16, other=1, tile=tile)

    def took_s(grid):
        role = Role("all", row["threads"] // 32, body)
        program = kernel(role, tiles=row["turns"], grid=grid, share_of_sm=row["ctas_per_sm"])
        return simulate_kernel(program, load_profile("h200_sxm"), trace=False).total_s

    some = 132 * row["ctas_per_sm"] * 20
    return (took_s(2 * some) - took_s(some)) / some


def test_copies_wait_for_an_hbm_that_mixing_fills():
    """Few CTAs of an SM or many, up to the bandwidth that is left: 36 cases within 6 %, 2 on average."""
    off = [copies_s(row) / (row["seconds"] / row["grid"]) - 1.0 for row in COPIES]
    assert len(off) == 36
    assert max(map(abs, off)) < 0.06
    assert sum(map(abs, off)) / len(off) < 0.02
