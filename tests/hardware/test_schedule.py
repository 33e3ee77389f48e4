"""Who gets the issue slots of a scheduler: rules on paper, and what the H200 did in the microbenchmarks."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.compute import ComputeModel
from gpusim.hardware.schedule import cycles_per_slot, served
from gpusim.program import Compute, Mix
from tests.bench_rows import rows
from tests.tile_programs import one_role, padded, textbook

KINDS = {
    "four chains of FFMAs": Mix(ffma=64, ilp=4),
    "a chain of FFMAs": Mix(ffma=16, ilp=1),
    "a chain of shuffles": Mix(lds=16, lds_bytes=4),
    "a shared load and 64 FFMAs": Mix(lds=1, ffma=68, ilp=4, loads_in_flight=2),
}
"""Code of the bench `mixed`; of its shared loads the compiler moves half ahead."""


@pytest.mark.parametrize(("most", "ends"), [(64, [1024, 1024]), (4, [512, 1024]), (6, [768, 1024])])
def test_older_ctas_are_served_first_a_few_warps_at_a_time(most, ends):
    """Two CTAs with four warps on each scheduler, 128 FFMAs each.

    Served four at a time: 4 × 128, then the same again. Six: 6 × 128, while half of the younger one's four have
    done 128 too; its other half takes 2 × 128.
    """
    program = padded(one_role(Compute(Mix(ffma=128)), warps=16, grid=264), 2)
    timeline = simulate_kernel(program, textbook(sm__warps_served=most), exact=True)
    found = {i.lane: i.end_s * 1e9 for i in timeline if i.kind == "compute" and i.lane.startswith("sm[0]")}
    assert [found[f"sm[0].cta[{slot}].worker"] for slot in (0, 1)] == pytest.approx(ends)


@pytest.mark.parametrize(
    ("warps", "expected"),
    [
        ([(0, 2, 1), (1, 2, 1)], [1, 1]),
        ([(0, 2, 1), (1, 2, 1), (2, 2, 1)], [1, 1, 0]),
        ([(3, 2, 1), (1, 3, 1)], [0.5, 1]),
        ([(0, 6, 1), (1, 1, 1)], [1, 0]),
        ([(0, 1, 1), (0, 1, 1), (5, 4, 1)], [1, 1, 0.5]),
        ([(0, 4, 0.1), (1, 4, 0.1), (2, 4, 0.1)], [1, 1, 0.5]),
        ([(0, 4, 0.2), (1, 4, 0.1)], [1, 0.5]),
    ],
)
def test_part_of_the_warps_that_is_served(warps, expected):
    """Four at a time, or more of them if they leave slots; the oldest CTA always whole; warps of one CTA are alike."""
    assert served(warps, 4) == pytest.approx(expected)


def test_a_warp_that_can_issue_goes_on():
    """Four chains of FFMAs issue every cycle; one chain, which needs four cycles, waits for gaps: 92 % are taken."""
    model = ComputeModel(textbook(sm__ffma_latency="4 cycles"))
    busy, waiting = (model.cost(Mix(ffma=64, ilp=ilp)) for ilp in (4, 1))
    alone, beside = cycles_per_slot([(1, busy), (1, waiting)], 10.0)
    assert alone == pytest.approx(1.0)
    assert beside == pytest.approx(4.0 + 4.0 * 0.92 / 0.08)
    assert cycles_per_slot([(1, busy), (1, busy)], 10.0) == pytest.approx([2.0, 2.0])
    assert cycles_per_slot([(1, waiting), (2, waiting)], 10.0) == pytest.approx([4.0, 4.0])


def compared() -> list[tuple[dict, int, float, float]]:
    """Rows of the bench with two kinds on a scheduler: (row, which of the two, measured, predicted cycles a turn)."""
    profile = load_profile("h200_sxm")
    model, found = ComputeModel(profile), []
    for row in rows("mixed"):
        if not all(row["warps"]):
            continue
        costs = [model.cost(KINDS[kind]) for kind in row["kinds"]]
        each = cycles_per_slot(list(zip(row["warps"], costs, strict=True)), profile.value("sm.slot_wait"))
        for i, (cycles, cost) in enumerate(zip(each, costs, strict=True)):
            found.append((row, i, row["cycles_per_turn"][i], cycles * cost.all_slots))
    return found


def test_loops_that_fill_the_slots_take_no_notice_of_chains():
    """Beside chains that wait for each instruction such a loop is as fast as alone, here and on the H200."""
    beside = [
        (row, i, m, p)
        for row, i, m, p in compared()
        if KINDS[row["kinds"][i]].ffma > 16 >= KINDS[row["kinds"][1 - i]].ffma
    ]
    assert len(beside) == 20
    for row, _, measured, predicted in beside:
        assert predicted == pytest.approx(measured, rel=0.2), row


def test_chains_of_shuffles_wait_for_gaps():
    """Beside such loops they are three to fourteen times slower, beside chains of FFMAs hardly."""
    chains = [(row, m, p) for row, i, m, p in compared() if row["kinds"][i] == "a chain of shuffles"]
    assert len(chains) == 15
    for row, measured, predicted in chains:
        assert 0.5 < predicted / measured < 2.0, row
