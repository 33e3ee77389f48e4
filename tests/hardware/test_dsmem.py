"""Loads from and stores to shared memory of other CTAs of a cluster, and arrivals there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gpusim.errors import HazardError, ProgramError
from gpusim.hardware import simulate_kernel
from gpusim.hardware.profile import load_profile
from gpusim.program import (
    Acquire,
    Arrive,
    Barrier,
    ClusterSync,
    Compute,
    KernelProgram,
    LoadCluster,
    Mix,
    Op,
    Release,
    Ring,
    Role,
    StoreCluster,
    TmaLoad,
    Wait,
    WaitFull,
    WaitLoads,
)
from tests.tile_programs import kernel, one_role, textbook, total_ns, without_launch_s

BENCH = Path(__file__).parents[2] / "realkernels/microbench/recorded/h200_sxm/dsmem.json"
H200 = load_profile("h200_sxm")
LINE, INSTRUCTION = 128, 512
"""Bytes; the latter of a warp's instruction with 16 bytes a lane."""


def in_cluster(*ops: Op, warps: int = 1, size: int = 2) -> KernelProgram:
    """One cluster whose warps execute ``ops``."""
    return replace(one_role(*ops, warps=warps), cluster=size, grid=size)


def bench(**where: object) -> list[dict]:
    """Rows of the bench of one cluster alone."""
    rows = json.loads(BENCH.read_text(encoding="utf-8"))["rows"]
    return [row for row in rows if where.items() <= row.items()]


def test_a_load_takes_its_way_and_then_the_latency():
    """Bytes by the rate of the network, one warp after the other."""
    device = textbook(cluster__load_latency="200 cycles", cluster__load_bandwidth="16 B/cycle")
    for warps in (1, 4):
        took = total_ns(in_cluster(LoadCluster(warps * LINE, width=4), warps=warps), device)
        assert took == pytest.approx(200 + 8 * warps, abs=2 * warps)


def test_what_passes_is_a_lane_of_its_own():
    """One warp's after the other's, as long as their bytes take."""
    device = textbook(cluster__load_bandwidth="16 B/cycle")
    line = simulate_kernel(in_cluster(LoadCluster(4 * LINE, width=4), LoadCluster(4 * LINE, width=4), warps=4), device)
    passes = line.mask(kinds=("transfer",))
    assert {line.lanes[lane] for lane in line.lane[passes]} == {"sm[0].cta[0].dsmem"}
    assert (line.end_s - line.start_s)[passes].sum() * device.clock_hz == pytest.approx(8 * LINE / 16)
    assert line.bytes[passes].sum() == 8 * LINE


def test_loads_under_way_share_the_latency():
    """What nothing waits for goes on its way at once."""
    device = textbook(cluster__load_latency="200 cycles", cluster__load_bandwidth="16 B/cycle")
    load = LoadCluster(LINE, width=4, wait=False)
    assert total_ns(in_cluster(*(load,) * 4, WaitLoads()), device) == pytest.approx(200 + 4 * 8, abs=4)
    assert total_ns(in_cluster(*(replace(load, wait=True),) * 4), device) == pytest.approx(4 * 208, abs=4)


def test_they_take_turns_of_shared_memory():
    """Its path at either end, where the network would pass more."""
    device = load_profile(
        "h200_sxm", {"cluster.load_data_interval": "6 cycles", "cluster.load_bandwidth": "4096 B/cycle"}
    )
    few, many = (without_launch_s(in_cluster(LoadCluster(n * INSTRUCTION), warps=16), device) for n in (64, 192))
    assert (many - few) * device.clock_hz == pytest.approx(6 * 128 * INSTRUCTION / LINE, rel=0.03)


@pytest.mark.parametrize("op", ["load", "store"])
@pytest.mark.parametrize("cluster", [2, 4, 8])
def test_many_warps_get_what_the_bench_has_seen(op, cluster):
    """Sixteen of each of all CTAs; the profile has the mean of clusters of each size."""
    rows = bench(what="flood", op=op, cluster=cluster, width=16, warps=16, own=0, offset=0)
    measured = [row["cycles"] for row in rows if row["ctas"] > cluster]
    kind = LoadCluster if op == "load" else StoreCluster
    each = kind(16 * 8 * INSTRUCTION)

    def took(turns: int) -> float:
        program = in_cluster(*(each,) * turns, ClusterSync(), warps=16, size=cluster)
        return without_launch_s(replace(program, grid=120, share_of_sm=1), H200)

    cycles = (took(40) - took(20)) / 20 / 128 * H200.clock_hz
    assert cycles == pytest.approx(sum(measured) / len(measured), rel=0.17)


@pytest.mark.parametrize(("count", "warps"), [(1, 4), (4, 4), (1, 16), (4, 16)])
def test_a_barrier_of_the_cluster_waits_for_stores(count, warps):
    """As the bench has seen, within a sixth, with and without stores before it."""
    measured = bench(what="meet", cluster=4, count=count, warps=warps)[0]["cycles"]
    turn = (StoreCluster(count * warps * INSTRUCTION), ClusterSync())

    def took(turns: int) -> float:
        program = in_cluster(*turn * turns, warps=warps, size=4)
        return without_launch_s(replace(program, grid=120, share_of_sm=1), H200)

    assert (took(40) - took(20)) / 20 * H200.clock_hz == pytest.approx(measured, rel=0.17)


def test_arrivals_take_the_same_way():
    """What loads have asked for passes before them."""
    device = textbook(
        cluster__load_bandwidth="1 B/cycle", cluster__arrive_interval="5 cycles", cluster__arrive_latency="90 cycles"
    )

    def ends(*before: Op) -> float:
        program = in_cluster(*before, Arrive("told", cluster=True), Wait("told", 0))
        return total_ns(replace(program, barriers=(Barrier("told", 2),)), device)

    assert ends() == pytest.approx(90 + 2 * 5, abs=3)
    assert ends(LoadCluster(LINE, width=4, wait=False)) == pytest.approx(LINE + 90 + 2 * 5, abs=4)


def from_peers(*, releases: bool = True, tiles: int = 6) -> KernelProgram:
    """Each CTA gets a part of a tile, tells all when it is there, and loads the others' parts."""

    def producer(count: int):
        for tile in range(count):
            yield Acquire("part", tile=tile)
            yield TmaLoad("part", 4096, tile=tile)

    def teller(count: int):
        for tile in range(count):
            yield WaitFull("part", tile=tile)
            yield Arrive(f"ready{tile % 2}", tile=tile, cluster=True)

    def worker(count: int):
        for tile in range(count):
            yield Wait(f"ready{tile % 2}", tile // 2, tile=tile)
            yield LoadCluster(4096, reads="part", tile=tile)
            yield Compute(Mix(ffma=32.0), tile=tile, reads="part")
            if releases:
                yield Release("part", tile=tile)

    return replace(
        kernel(Role("producer", 1, producer), Role("teller", 1, teller), Role("worker", 4, worker), tiles=tiles),
        rings=(Ring("part", 2, 4096, empty_arrivals=4),),
        barriers=(Barrier("ready0", 2), Barrier("ready1", 2)),
        shared_bytes=8192,
        cluster=2,
        grid=2,
    )


def test_a_stage_that_peers_read_is_freed_by_all():
    """Its barrier hears of the other CTA's consumers as late as they are far."""

    def turn(latency: str) -> float:
        few, many = (total_ns(from_peers(tiles=tiles), textbook(cluster__arrive_latency=latency)) for tiles in (20, 40))
        return (many - few) / 10

    # Told of a part and given back, in each turn of the two stages.
    assert turn("900 cycles") - turn("400 cycles") == pytest.approx(2 * 500, rel=0.02)


def test_a_release_that_is_missing_is_told_of_the_role_that_reads():
    """Not of the one that only tells."""
    with pytest.raises(Exception, match=r"put release: part in role 'worker'"):
        simulate_kernel(from_peers(releases=False), H200)


@pytest.mark.parametrize("op", [LoadCluster(LINE), StoreCluster(LINE), Arrive("told", cluster=True)])
def test_they_take_a_cluster(op):
    """One CTA has no others."""
    program = replace(one_role(op), barriers=(Barrier("told", 1),))
    with pytest.raises(ProgramError, match="it reaches the CTAs of a cluster; give the kernel one"):
        simulate_kernel(program, H200)


def test_loads_that_nobody_waits_for_are_an_error():
    """As of global memory."""
    with pytest.raises(HazardError, match="nothing waits for a load of 128 bytes"):
        simulate_kernel(in_cluster(LoadCluster(LINE, wait=False, tile=0)), H200)


def test_ctas_of_a_cluster_have_as_many_tiles():
    """Who reads the other's part of a tile that it does not have reads nothing."""
    program = replace(from_peers(), tiles_per_cta=(3, 4))
    with pytest.raises(ProgramError, match="expected as many tiles for all CTAs of a cluster"):
        simulate_kernel(program, H200)
