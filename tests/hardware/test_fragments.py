"""Products of fragments that a warp loads, instruction by instruction, by hand and against the `fragments` bench."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.sm.fragments import Fragments, runs_of, turn_cycles
from gpusim.program import Compute, KernelProgram, Mix, Role, SyncThreads
from gpusim.program.sass import Instruction, fragment_runs
from tests.bench_rows import rows

ONE = Fragments(
    runs=((1, 2, 0),),
    repeats=1,
    latency=30,
    path=4,
    interval=8,
    load=4,
    product=1,
    core=6,
    slots=1,
    around=10,
    meets=True,
)
TURNS = 40


def test_one_warp_by_hand():
    """A load is there after 30 cycles, the second product begins six later, and the end is ten behind its slot."""
    assert turn_cycles(ONE, 1, 1, 1) == 30 + 6 + 1 + 10


def test_products_that_do_not_need_the_last_load_hide_it():
    """Four products of six cycles stand between a load and its use: of 30 cycles six are left."""
    behind = ONE._replace(runs=((1, 1, 0), (1, 4, 1), (0, 1, 0)), around=0)
    assert turn_cycles(behind, 1, 1, 1) == 30 + 1 + 30 + 1
    nothing_to_do = ONE._replace(runs=((1, 1, 0), (1, 0, 0), (0, 5, 0)), around=0)
    assert turn_cycles(nothing_to_do, 1, 1, 1) == 30 + 1 + 30 + 4 * 6 + 1


def test_a_full_tensor_core_is_shared():
    """Two warps of a scheduler take twice as long for many products, those of two schedulers do not."""
    many = ONE._replace(runs=((1, 100, 0),), around=0)
    assert turn_cycles(many, 1, 2, 1) == pytest.approx(2 * 600, rel=0.04)
    assert turn_cycles(many, 1, 1, 2) == pytest.approx(600, rel=0.06)


def test_shared_memory_is_one_for_all_schedulers():
    """Eight loads of each of four warps, four cycles each: the last has to wait for all of them."""
    loads = ONE._replace(runs=((8, 1, 0),), interval=4, around=0)
    assert turn_cycles(loads, 1, 1, 4) == pytest.approx(32 * 4 - 4 + 30 + 1)


def test_whole_turns_go_on_as_the_last_ones():
    """Ten times the runs are as long as three and seven times what the third adds."""
    three, two, ten = (turn_cycles(ONE._replace(repeats=n), 1, 1, 1) for n in (3, 2, 10))
    assert ten == pytest.approx(three + 7 * (three - two))


def test_runs_that_nobody_states():
    """Batches of loads in flight, of which the first product needs two, and what stands between them and their use."""
    assert runs_of(Mix(mma=8, lds=6, loads_in_flight=3)) == (((3, 2, 1), (0, 2, 0), (3, 2, 1), (0, 2, 0)), 1.0)
    runs, repeats = runs_of(Mix(mma=8, lds=4, loads_in_flight=2, load_to_use=3))
    assert (runs, repeats) == (((2, 4, 0), (2, 3, 2), (0, 1, 0)), 1.0)
    assert runs_of(Mix(mma=64, lds=32, fragments=((1, 2, 0),))) == (((1, 2, 0),), 32.0)


def test_many_products_are_told_by_a_few():
    """A million and a few loads, as who counts a whole kernel in one op may say: as long, and predicted as soon."""
    runs, repeats = runs_of(Mix(mma=1e6, lds=1000, loads_in_flight=256))
    told = sum(loads + products for loads, products, _ in runs)
    assert told < 600
    assert repeats * sum(products for _, products, _ in runs) == 1e6
    many = ONE._replace(runs=runs, repeats=repeats)
    assert turn_cycles(many, 1, 2, 4) == pytest.approx(2 * 6e6, rel=0.02)


def cycles(row: dict, turn: list) -> float:
    """Of a turn of the bench's loop on a simulated H200."""
    profile = load_profile("h200_sxm")
    code = [Instruction.of(text, 16 * number, stall) for number, (stall, text) in enumerate(turn)]
    products, loads = (sum(one.root == root for one in code) for root in ("HMMA", "LDSM"))
    around = len(code) - products - loads - row["syncs"]
    mix = Mix(
        mma=products, mma_ilp=row["rows"] * row["columns"], lds=loads, lds_bytes=16, setup=around,
        alone=6.05 * products + 3 * around, fragments=tuple(fragment_runs(code, loop=True)),
    )  # fmt: skip

    def body(tiles):
        for tile in range(tiles):
            if row["syncs"]:
                yield SyncThreads(tile=tile)
            yield Compute(mix, tile=tile)
            if row["syncs"] > 1:
                yield SyncThreads(tile=tile)

    def total_s(tiles: int) -> float:
        program = KernelProgram(
            name="fragments", grid=132 * row["ctas_per_sm"], tiles_per_cta=tiles, registers=64, shared_bytes=1024,
            share_of_sm=row["ctas_per_sm"], roles=(Role("worker", row["warps"], body),), rings=(),
        )  # fmt: skip
        return simulate_kernel(program, profile, trace=False).total_s

    return (total_s(3 * TURNS) - total_s(TURNS)) / (2 * TURNS) * profile.value("tensor.mma_clock")


@pytest.mark.parametrize(
    ("ctas", "warps", "mean", "worst"),
    [(1, 4, 0.065, 0.12), (1, 8, 0.04, 0.1), (1, 16, 0.03, 0.07), (2, 4, 0.085, 0.17), (2, 8, 0.04, 0.1)],
)
def test_turns_take_as_long_as_on_the_h200(ctas, warps, mean, worst):
    """Loops of thirteen tiles, with one barrier and two.

    Two small CTAs are further off: the older one gets more of what both want, and in this bench, where nothing else
    happens, ends sooner and leaves the other alone.
    """
    turns = {(r["rows"], r["columns"], r["steps"], r["loads"], r["syncs"]): r["sass_turn"]
             for r in rows("fragments") if r["sass_turn"]}  # fmt: skip
    off = []
    for row in [row for row in rows("fragments", ctas_per_sm=ctas, warps=warps, loads=1) if row["syncs"]]:
        turn = turns[row["rows"], row["columns"], row["steps"], row["loads"], row["syncs"]]
        off.append(cycles(row, turn) / row["cycles_per_turn"] - 1.0)
    assert len(off) >= 14
    assert np.mean(np.abs(off)) < mean
    assert np.max(np.abs(off)) < worst
