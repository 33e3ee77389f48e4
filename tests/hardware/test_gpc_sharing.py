"""What L2 saves where SMs of a GPC read the same, and for how long."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean

import pytest

from gpusim.hardware.memory.alignment import Start, lands_whole
from gpusim.hardware.memory.gpc_sharing import FULL
from gpusim.hardware.profile import load_profile
from gpusim.program import CommitGroup, CpAsync, KernelProgram, Load, Op, Ring, Role, TmaLoad, WaitGroup
from tests.bench_rows import rows as bench_rows
from tests.tile_programs import tma_ring, without_launch_s

BENCH = Path(__file__).parents[2] / "realkernels/microbench/recorded/h200_sxm/moving_apart.json"
H200 = load_profile("h200_sxm")
TILE = 16384


took_s = partial(without_launch_s, profile=H200)


def copying(tiles: int, *, shared_by: float, own: int = 0, ffma: int = 0, ctas: int = 2) -> KernelProgram:
    """CTAs that copy ``tiles`` from L2, of each ``own`` bytes that nobody else reads."""
    whole = tma_ring(4, tile_bytes=TILE, ffma=ffma, grid=132 * ctas, tiles=tiles)

    def warm(count: int) -> Iterator[Op]:
        for op in whole.roles[0].body(count):
            if not isinstance(op, TmaLoad):
                yield op
                continue
            yield replace(op, bytes=TILE - own, l2_hit=1.0, shared_by=shared_by)
            if own:
                yield replace(op, bytes=own, l2_hit=1.0)

    ring = replace(whole.rings[0], full_arrivals=2 if own else 1)
    roles = replace(whole.roles[0], body=warm), *whole.roles[1:]
    return replace(whole, roles=roles, rings=(ring,), share_of_sm=ctas)


def test_a_read_serves_no_more_than_so_many_sms():
    """However many share a tile; where nobody shares, nothing is saved."""
    few, many = (took_s(copying(20, shared_by=shared_by, own=8192)) for shared_by in (4.0, 16.0))
    assert few == many < 0.8 * took_s(copying(20, shared_by=1.0, own=8192))


def test_sms_that_l2_keeps_waiting_move_apart():
    """Later tiles take longer, and in the end nearly as long as if nobody shared any."""
    short, long = (took_s(copying(tiles, shared_by=16.0, own=8192)) for tiles in (200, 4000))
    alone = took_s(copying(4000, shared_by=1.0, own=8192))
    assert 1.15 * 20 * short < long < 0.97 * alone


def test_sms_that_compute_stay_together():
    """As in the bench: what paces them is their own, so that later tiles take no longer."""
    short, long = (took_s(copying(tiles, shared_by=16.0, own=8192, ffma=400)) for tiles in (200, 4000))
    assert long == pytest.approx(20 * short, rel=0.03)


@pytest.mark.parametrize("ctas", [1, 2])
def test_later_waves_go_on_moving_apart(ctas: int):
    """Ten waves of few tiles take longer than ten times one, and less than one of ten times as many."""
    one, long = (took_s(copying(tiles, shared_by=16.0, own=8192, ctas=ctas)) for tiles in (400, 4000))
    waves = took_s(replace(copying(400, shared_by=16.0, own=8192, ctas=ctas), grid=10 * 132 * ctas))
    assert 1.1 * 10 * one < waves < 1.02 * long


@pytest.mark.parametrize("own", [4096, 8192])
@pytest.mark.parametrize("ctas", [1, 2])
def test_waves_of_the_bench(own: int, ctas: int):
    """Eight waves of 128 turns take what one of 1024 does, within 13 %, and so none of them begins anew."""

    def seconds_per_turn(turns: int, waves: int) -> float:
        rows = bench_rows("waves_apart", own_bytes=own, ctas=ctas, turns=turns, waves=waves)
        return mean(1.0 / row["bytes_per_cycle_per_sm"] for row in rows)

    assert seconds_per_turn(128, 8) == pytest.approx(seconds_per_turn(1024, 1), rel=0.13)
    assert seconds_per_turn(128, 8) > 1.15 * seconds_per_turn(128, 1)


def test_who_moves_apart_is_as_in_the_bench():
    """CTAs that pace themselves keep their rate to the end unless they would have L2 fuller than `FULL`."""
    rows = [row for row in json.loads(BENCH.read_text(encoding="utf-8"))["rows"] if row["own_bytes"] in (8192, 24576)]
    merged, third = H200.value("l2.reads_merged"), 8192 / 24576
    seen = set()
    for ctas, pace in {(row["ctas"], row["pace"]) for row in rows if row["pace"]}:
        alone = mean(r["bytes_per_cycle_per_sm"] for r in rows if r["own_bytes"] == 24576 and r["ctas"] == ctas)
        rates = [r["bytes_per_cycle_per_sm"] for r in rows if (r["ctas"], r["pace"]) == (ctas, pace)]
        load = rates[0] / alone * (third + (1.0 - third) / merged)
        stayed = min(rates) > 0.95 * rates[0]
        assert stayed == (load <= FULL), (ctas, pace, load, rates)
        seen.add(stayed)
    assert seen == {True, False}


@pytest.mark.parametrize("ctas", [1, 2])
def test_gain_of_the_bench(ctas: int):
    """What a run of `moving_apart` gains against one in which nobody shares; each tile is 24 KiB, a third its own."""
    rows = json.loads(BENCH.read_text(encoding="utf-8"))["rows"]

    def measured(own: int) -> list[dict]:
        return [row for row in rows if row["own_bytes"] == own and row["ctas"] == ctas and not row["pace"]]

    shared = measured(8192)
    rate, alone = (mean(row["bytes_per_cycle_per_sm"] for row in found) for found in (shared, measured(24576)))
    cycles = 1e3 * (shared[-1]["kilocycles"] + shared[0]["kilocycles"])
    tiles = round(rate * cycles / ctas / TILE)
    own = TILE // 3 // 128 * 128
    took, took_alone = (took_s(copying(tiles, shared_by=n, own=own, ctas=ctas)) for n in (16.0, 1.0))
    assert took_alone / took == pytest.approx(rate / alone, rel=0.1)


def test_only_whole_lines_are_read_together():
    """By the bench, of four SMs: copies whose lines land whole gain half and more, all others a quarter at most.

    But for rows of half a line, two of which share one: they gain half as well, which is left out.
    """
    seen = set()
    for row in bench_rows("merged_reads", members=4):
        if row["way"] == "load":
            continue
        same = {name: row[name] for name in ("way", "row_bytes", "pitch_bytes", "offset_bytes", "swizzled")}
        (alone,) = bench_rows("merged_reads", members=1, **same)
        gain = row["bytes_per_cycle_per_sm"] / alone["bytes_per_cycle_per_sm"]
        start = Start(128, row["row_bytes"], row["pitch_bytes"]) if row["way"] == "cp_async" else Start(128)
        whole = lands_whole(start) and not row["offset_bytes"]
        half = row["row_bytes"] == 64 and row["pitch_bytes"] % 64 == 0
        assert (gain > 1.5) == (whole or half) or half, same
        assert whole or half or gain < 1.3, same
        seen.add(whole)
    assert seen == {True, False}


@pytest.mark.parametrize("how", [{"row": 128, "pitch": 144}, {"row": 64, "pitch": 80}, {"align": 16}])
def test_copies_off_their_lines_gain_nothing(how):
    """Rows that are padded in shared memory, and copies that start off a line."""

    def took(shared_by: float) -> float:
        def body(tiles: int) -> Iterator[Op]:
            for tile in range(tiles):
                yield CpAsync("input", TILE, l2_hit=1.0, shared_by=shared_by, tile=tile, **how)
                yield CommitGroup(tile=tile)
                yield WaitGroup(tile=tile)

        program = KernelProgram(
            name="reads", grid=132 * 4, tiles_per_cta=10, roles=(Role("all", 8, body),), registers=32,
            rings=(Ring("input", 1, TILE),), shared_bytes=2 * TILE, share_of_sm=4,
        )  # fmt: skip
        return took_s(program)

    assert took(4.0) == took(1.0)


@pytest.mark.parametrize("op", [CpAsync, Load])
def test_copies_and_loads_by_threads_are_served_together_as_well(op):
    """A short kernel that L2 bounds becomes a fifth faster and more."""

    def took(shared_by: float) -> float:
        def body(tiles: int) -> Iterator[Op]:
            for tile in range(tiles):
                if op is Load:
                    yield Load(TILE, l2_hit=1.0, shared_by=shared_by, tile=tile)
                    continue
                yield CpAsync("input", TILE, l2_hit=1.0, shared_by=shared_by, tile=tile)
                yield CommitGroup(tile=tile)
                yield WaitGroup(tile=tile)

        program = KernelProgram(
            name="reads", grid=132 * 8, tiles_per_cta=10, roles=(Role("all", 8, body),), registers=32,
            rings=(Ring("input", 1, TILE),) if op is CpAsync else (), shared_bytes=TILE, share_of_sm=8,
        )  # fmt: skip
        return took_s(program)

    assert took(4.0) < 0.8 * took(1.0)
