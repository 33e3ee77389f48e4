"""What CTAs of a cluster save by copies that all of them get, what they cost each other, and where they find room."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from gpusim.errors import ProgramError
from gpusim.hardware import simulate_kernel
from gpusim.hardware.memory.traffic import Traffic
from gpusim.hardware.profile import load_profile
from gpusim.program import ClusterSync, KernelProgram, TmaLoad
from tests.tile_programs import one_role, textbook, tma_ring, total_ns, without_launch_s

BENCH = Path(__file__).parents[2] / "realkernels/microbench/recorded/h200_sxm/cluster.json"
H200 = load_profile("h200_sxm")


took = partial(without_launch_s, profile=H200)


def clustered(cluster: int, *, multicast: bool = True, l2_hit: float = 1.0, **ring: int) -> KernelProgram:
    """A ring of CTAs alone on their SMs, whose copies all CTAs of their cluster get."""
    whole = tma_ring(**{"stages": 4, "tile_bytes": 32768, "ffma": 0, "warps": 1, "tiles": 200, "grid": 120} | ring)
    producer, *consumers = whole.roles

    def body(tiles: int):
        for op in producer.body(tiles):
            copies = isinstance(op, TmaLoad)
            yield replace(op, multicast=multicast and cluster > 1, l2_hit=l2_hit) if copies else op

    return replace(whole, roles=(replace(producer, body=body), *consumers), cluster=cluster, share_of_sm=1)


def test_a_cluster_reads_a_tile_once():
    """Of what each CTA gets it asks for its part."""
    alone, four = (Traffic.of(clustered(cluster, l2_hit=0.0)) for cluster in (1, 4))
    assert (four.read_bytes, four.missed_bytes) == (alone.read_bytes / 4, alone.missed_bytes / 4)


@pytest.mark.parametrize("cluster", [2, 4, 8])
def test_l2_gives_what_the_bench_has_seen(cluster):
    """The longest rings of the bench, of all SMs: bytes that an SM gets per cycle.

    Into a GPC eight CTAs get a tenth more than the bench `moving_apart` has seen, which says how much that is.
    """
    rows = json.loads(BENCH.read_text(encoding="utf-8"))["rows"]
    fits = {"what": "ring", "cluster": cluster, "multicast": True, "tile": 32768, "warps": 1, "stages": 6}
    measured = max(row["cycles"] for row in rows if fits.items() <= row.items())
    few, many = (took(clustered(cluster, tiles=tiles, stages=6)) for tiles in (100, 300))
    assert (many - few) / 200 * H200.clock_hz == pytest.approx(measured, rel=0.12)


def test_copies_that_nobody_else_gets_take_l2_as_often():
    """Clusters alone save nothing."""
    assert took(clustered(2, multicast=False)) == pytest.approx(took(clustered(1)), rel=0.01)
    assert took(clustered(2)) < 0.6 * took(clustered(1))


@pytest.mark.parametrize(("cluster", "sms"), [(1, 132), (2, 132), (4, 120), (8, 120)])
def test_clusters_leave_sms_empty(cluster, sms):
    """Of a GPC with 18 SMs clusters of four reach 16."""
    meta = simulate_kernel(clustered(cluster, grid=264 // cluster * cluster), H200, trace=False).meta
    assert meta["occupancy"]["at_once"] == sms


def test_a_stage_is_free_when_all_have_freed_it():
    """One stage, four consumers of each of two CTAs: eight arrivals one after another, and their way."""
    free, device = "0 cycles", {"cluster__arrive_latency": "80 cycles", "cluster__arrive_interval": "5 cycles"}
    program = clustered(2, grid=2, stages=1, tile_bytes=4096, tiles=41, warps=4)
    longer = total_ns(program, textbook(**device)) - total_ns(program, textbook(mbarrier__wake=free))
    assert longer == pytest.approx(40 * (80 + 8 * 5), rel=0.01)


def test_a_barrier_of_the_cluster_takes_its_time():
    """Twice what the device says, as nothing else takes any."""
    program = replace(one_role(ClusterSync(), ClusterSync()), cluster=2, grid=2)
    assert total_ns(program, textbook(cluster__sync="300 cycles")) == pytest.approx(600)


@pytest.mark.parametrize(("change", "message"), [
    ({"grid": 122}, "expected a grid of whole clusters of 4, got 122; use 124"),
    ({"cluster": 3}, "clusters of 3 CTAs; expected one of 1, 2, 4, 8"),
    ({"cluster": 1}, "multicast reaches the CTAs of a cluster"),
])  # fmt: skip
def test_clusters_that_cannot_be_are_refused(change, message):
    """By name, with what would do."""
    with pytest.raises(ProgramError, match=message):
        simulate_kernel(replace(clustered(4), **change), H200)


def test_parts_of_a_tile_are_whole_units():
    """Bulk copies move multiples of 16 bytes."""
    with pytest.raises(ProgramError, match="expected a multiple of 128 bytes, whole 16 bytes for each"):
        simulate_kernel(clustered(8, tile_bytes=4112), H200)


def test_devices_with_fewer_sms_than_a_cluster_has_ctas_say_so():
    """Each gets an SM for itself."""
    with pytest.raises(ProgramError, match="clusters of 8 CTAs take as many SMs"):
        simulate_kernel(clustered(8), load_profile("h200_sxm", {"sm.count": 4}))


def test_devices_without_clusters_say_so():
    """An A100 has neither these nor bulk copies."""
    with pytest.raises(ProgramError, match="clusters take compute capability 9"):
        simulate_kernel(clustered(2), load_profile("a100_sxm"))
