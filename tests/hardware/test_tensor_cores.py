"""Products on the tensor cores: what they take alone, together and beside others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpusim.errors import HazardError, ProgramError
from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import Compute, KernelProgram, Mix, Op, Release, Role, TmaLoad, WaitFull, Wgmma, WgmmaWait, doubts
from gpusim.timeline.bottleneck import bottleneck
from gpusim.timeline.roofline import TENSOR_CORES
from tests.negative.pipelines import producer, ring_kernel, run
from tests.tile_programs import RING, kernel, textbook, tma_ring, total_ns

H200 = load_profile("h200_sxm")
TENSOR_CLOCK = H200.value("tensor.wgmma_clock")
RECORDED = Path(__file__).parents[2] / "realkernels/microbench/recorded/h200_sxm"


def multiplying(tiles: int = 40, warps: int = 4, pending: int = 0, **of: object) -> KernelProgram:
    """A CTA on each SM whose warps do nothing but products."""

    def body(count: int) -> Iterator[Op]:
        for tile in range(count):
            yield Wgmma(**({"n": 128} | of), tile=tile)
            yield WgmmaWait(pending, tile=tile)
        yield WgmmaWait()

    return KernelProgram("products", 132, tiles, (Role("consumer", warps, body),), registers=90)


def cycles_per_tile(program: KernelProgram) -> float:
    """On the H200, from a run of twice as many tiles."""
    both = [simulate_kernel(one, H200, trace=False).total_s for one in (program, program.repeated(2))]
    return (both[1] - both[0]) / program.tiles_per_cta * TENSOR_CLOCK


@pytest.mark.parametrize(("n", "count", "warps"), [(64, 4, 4), (128, 4, 4), (256, 2, 4), (128, 4, 8), (128, 1, 12)])
def test_textbook_products_take_their_columns(n, count, warps):
    """Half a cycle a column, for each warpgroup in turn: nothing else takes any time."""
    assert total_ns(multiplying(n=n, count=count, warps=warps)) == pytest.approx(40 * count * n / 2 * warps / 4)


def test_mma_takes_its_turn_on_the_tensor_core_of_its_scheduler():
    """Four cycles each, whatever the number of warps; of one chain the latency of each."""

    def body(_tiles: int) -> Iterator[Op]:
        yield Compute(Mix(mma=100.0, mma_ilp=8.0))

    for warps in (4, 8, 16):
        program = kernel(Role("worker", warps, body))
        assert total_ns(program) == pytest.approx(400 * warps / 4)
    waiting = kernel(Role("worker", 4, lambda _tiles: iter([Compute(Mix(mma=100.0, mma_ilp=1.0))])))
    assert total_ns(waiting, textbook(tensor__mma_latency="24 cycles")) == pytest.approx(2400)


@pytest.mark.parametrize(
    ("of", "measured"),
    [
        ({"n": 64, "count": 4, "pending": 1}, 139),
        ({"n": 128, "count": 4}, 326),
        ({"n": 128, "count": 4, "pending": 1}, 271),
        ({"n": 256, "count": 4}, 600),
        ({"n": 256, "count": 16}, 2142),
        ({"n": 32, "count": 16, "a": "registers"}, 326),
        ({"n": 128, "count": 4, "warps": 8}, 531),
        ({"n": 256, "count": 4, "warps": 12}, 1572),
    ],
)
def test_groups_take_what_the_bench_saw(of, measured):
    """Cycles of a turn on one SM (`wgmma`), of one to three warpgroups, with none or one group left under way.

    There the fence is in it, ten cycles of a turn that waits.
    """
    assert cycles_per_tile(multiplying(**of)) == pytest.approx(measured, rel=0.06)


def test_operands_from_shared_memory_bound_narrow_products():
    """Of 32 columns it takes 24 cycles to bring both operands, and 16 to bring one."""
    both, one = (cycles_per_tile(multiplying(n=32, count=64, a=a, warps=12)) / 3 / 64 for a in ("shared", "registers"))
    assert both == pytest.approx(24.2, rel=0.03)
    assert one == pytest.approx(16.1, rel=0.03)


def test_two_warpgroups_fill_each_others_waits():
    """Alone one loses the latency of each group, together a few cycles (531 by the bench)."""
    alone, pair = (cycles_per_tile(multiplying(warps=warps)) for warps in (4, 8))
    assert alone > 4 * 64 + 50
    assert pair == pytest.approx(531, rel=0.02)


def test_warps_issue_no_more_than_the_tensor_cores_take_in():
    """Cycles from where warpgroups meet until the last of them has issued its products, against `waiting_products`.

    The bench's code in front of the first product, up to 120 cycles, is not in the program.
    """
    rows = json.loads((RECORDED / "waiting_products.json").read_text(encoding="utf-8"))["rows"]
    full = [row for row in rows if row["pending"] and row["n"] >= 64 and row["per_group"] * row["warpgroups"] >= 12]
    assert len(full) > 20
    for row in full:

        def body(_tiles: int, row: dict = row) -> Iterator[Op]:
            yield Wgmma(row["n"], row["per_group"])
            yield WgmmaWait()

        program = KernelProgram("products", 1, 1, (Role("consumer", 4 * row["warpgroups"], body),), registers=90)
        timeline = simulate_kernel(program, H200)
        of_warps = timeline.mask(lanes="consumer", kinds=["compute"])
        first = {n: np.flatnonzero(of_warps & (timeline.lane == n))[0] for n in set(timeline.lane[of_warps])}
        issued = max(timeline.end_s[n] for n in first.values()) - timeline.start_s[of_warps].min()
        assert -120 <= issued * TENSOR_CLOCK - row["issued_cycles"][1] <= 20, row


def test_other_warps_get_on_more_slowly_beside_products():
    """And the products as if nobody were there, unless those leave no slot free."""

    def beside(mix: Mix) -> tuple[float, float]:
        """Seconds of a warpgroup of products and of other warps that end after them, by its own lane."""

        def products(_tiles: int) -> Iterator[Op]:
            for _ in range(200):
                yield Wgmma(128)
                yield WgmmaWait(1)
            yield WgmmaWait()

        roles = (Role("products", 4, products), Role("other", 4, lambda _tiles: iter([Compute(mix)])))
        timeline = simulate_kernel(KernelProgram("both", 132, 1, roles, registers=90), H200)
        ends = [
            max(timeline.end_s[timeline.lane == timeline.lanes.index(f"sm[0].cta[0].{name}")]) for name in
            ("products", "other")
        ]  # fmt: skip
        return ends[0], ends[1]

    alone = beside(Mix(setup=1.0))[0]
    chain, ffmas = Mix(setup=4000.0), Mix(ffma=60_000.0, ilp=8.0)
    assert beside(chain)[0] == pytest.approx(alone, rel=0.02)
    assert beside(chain)[1] == pytest.approx(4000 * 4.418 / 0.64 / TENSOR_CLOCK, rel=0.05)
    assert beside(ffmas)[0] > 1.5 * alone


def test_the_clock_falls_where_tensor_cores_work():
    """Cycles are longer then, and what DRAM takes is not."""
    slower = H200.at_clock(TENSOR_CLOCK)
    assert slower.clock_hz == TENSOR_CLOCK < H200.clock_hz
    assert slower.seconds_of("dram.latency") == pytest.approx(H200.seconds_of("dram.latency"))
    assert slower.seconds_of("tma.l2_latency") > H200.seconds_of("tma.l2_latency")
    assert H200.at_clock(1e10) is H200


def test_work_is_counted_on_the_unit_that_does_it():
    """64 rows, n columns, 32 bytes deep, of each warpgroup; and the roof is that of the tensor cores."""
    program = multiplying(tiles=400, warps=8, count=4, k=16)
    assert Traffic.of(program).tensor_flop == 132 * 400 * 2 * (2 * 64 * 128 * 16 * 4)
    timeline = simulate_kernel(program, H200)
    assert timeline.meta["arithmetic"] == TENSOR_CORES
    assert bottleneck(timeline).name == TENSOR_CORES
    assert 950e12 > timeline.meta["peak_flop_per_s"] > 850e12


def test_products_that_several_sms_share_pass_l2_once():
    """Where L2 is what a ring waits for, tiles that four SMs of a GPC share come four times as fast, at most."""

    def sharing(shared_by: float) -> float:
        whole = tma_ring(4, tile_bytes=32768, ffma=16, grid=132)

        def warm(count: int) -> Iterator[Op]:
            for op in whole.roles[0].body(count):
                yield replace(op, l2_hit=1.0, shared_by=shared_by) if isinstance(op, TmaLoad) else op

        program = replace(whole, roles=(replace(whole.roles[0], body=warm), *whole.roles[1:]))
        return simulate_kernel(program, H200, trace=False).total_s

    apart, together = sharing(1.0), sharing(4.0)
    assert 1.8 < apart / together < 4.0


class TestMistakes:
    """Each is named with its role, and with what to do."""

    def test_role_that_is_no_warpgroup(self):
        """Six warps."""
        with pytest.raises(
            ProgramError, match=r"'consumer' has 6 warps, and wgmma .* whole warpgroups of 4; give it 8"
        ):
            simulate_kernel(multiplying(warps=6), H200)

    def test_warpgroup_that_begins_in_the_middle(self):
        """A producer warp stands in front."""
        program = multiplying()
        producer = Role("producer", 1, lambda tiles: iter([Compute(Mix(setup=1.0))] * tiles))
        torn = KernelProgram("torn", 132, 4, (producer, *program.roles), registers=90)
        with pytest.raises(ProgramError, match=r"in front of role 'consumer' are the 1 of role 'producer'.* 3 idle"):
            simulate_kernel(torn, H200)
        completed = KernelProgram("whole", 132, 4, (producer, *program.roles), registers=90, idle_warps=3)
        assert simulate_kernel(completed, H200, trace=False).total_s > 0.0

    @pytest.mark.parametrize(("device", "capability"), [("a100_sxm", "8.0"), ("b200", "10.0")])
    def test_devices_without_wgmma(self, device, capability):
        """Older ones have none yet, and newer ones no more."""
        with pytest.raises(ProgramError, match=rf"wgmma take.* 9\.0, {device} has {capability}; use mma"):
            simulate_kernel(multiplying(), load_profile(device))

    def test_results_that_nobody_waits_for(self):
        """The last group is still under way when the warps end."""
        lost = kernel(Role("consumer", 4, lambda tiles: (Wgmma(128, tile=tile) for tile in range(tiles))))
        with pytest.raises(HazardError, match="products of wgmma for which nothing waits"):
            simulate_kernel(lost, H200)

    def test_stage_that_is_released_while_products_read_it(self):
        """Found by the run, and told before it."""

        def hasty(tiles: int) -> Iterator[Op]:
            for tile in range(tiles):
                yield WaitFull(RING, tile=tile)
                yield Wgmma(256, count=64, reads=RING, tile=tile)
                yield Release(RING, tile=tile)
                yield WgmmaWait(tile=tile)

        program = replace(ring_kernel(producer(), hasty), idle_warps=3)
        assert any("its wgmma of tile 0 may still read" in told for told in doubts(program))
        with pytest.raises(HazardError, match=r"put a wgmma_wait that leaves no product"):
            run(program)


@pytest.mark.parametrize("warps", [4, 8])
def test_the_timeline_shows_what_the_tensor_cores_work_on(warps):
    """One group after the other, each as long as its columns take, and nothing between them: products hold it back."""
    found = simulate_kernel(multiplying(tiles=5, n=64, count=4, warps=warps), textbook())
    keep = found.mask(lanes=r"^sm\[0\]\.tensor$")
    starts, ends = found.start_s[keep], found.end_s[keep]
    assert keep.sum() == 5 * warps / 4
    assert set(found.tile[keep]) == set(range(5))
    assert (ends - starts) * 1e9 == pytest.approx(128.0)
    assert starts[1:] == pytest.approx(ends[:-1])
    assert (
        bottleneck(replace(found, meta={**found.meta, "peak_flop_per_s": float("inf")})).name
        == "products on tensor cores"
    )


@pytest.mark.parametrize(("pending", "helps"), [(0, "one pending"), (1, "compute less")])
def test_what_helps_tensor_cores_that_pause_is_to_ask_for_more_at_a_time(pending, helps):
    """A warpgroup alone waits 59 cycles for each group of products, unless the next one is under way."""
    found = simulate_kernel(multiplying(n=64, count=4, pending=pending), H200)
    limit = bottleneck(replace(found, meta={**found.meta, "peak_flop_per_s": float("inf"), "launch_s": 0.0}))
    assert limit.name == "products on tensor cores"
    assert helps in limit.lever
