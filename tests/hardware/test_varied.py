"""Code that is not all alike, by several warps of a scheduler, by the counts of its machine code.

No number of the model comes from these loops.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from statistics import fmean

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import Compute, Mix, Op, Role, SyncThreads
from gpusim.program.sass import Instruction, Part, steps_of
from tests.bench_rows import rows
from tests.tile_programs import kernel, padded

NAMES = ("ffma", "interleaved", "mufu", "ilp", "loads_in_flight", "load_to_use", "register_conflicts", "pipe_stalls",
         "half_rate", "alone")  # fmt: skip
SCHEDULERS = 4
SHORT, LONG = 60, 200
"""Turns; the first ones are not like the others."""


def kind(row: dict) -> tuple:
    """What its code hangs on."""
    return row["kind"], row["steps"], row["barrier"]


@cache
def ops(of: tuple, gaps: bool) -> tuple[Op, ...]:
    """What `gpusim count --in-order` says of a turn, as ops; without ``gaps`` if that is left out."""
    (row,) = [row for row in rows("varied") if row["sass_turn"] and kind(row) == of]
    body = [Instruction.of(text, 16 * at, stall) for at, (stall, text) in enumerate(row["sass_turn"])]
    part = Part("loop 1", 0, 16 * len(body), tuple(body))
    found: list[Op] = []
    for step in steps_of(part, [part]):
        if step.word == "sync_threads":
            found.append(SyncThreads())
            continue
        stated = {row.field.split(" ")[0]: row for row in step.rows}
        mix = {name: stated[name].number for name in NAMES if name in stated}
        loads = sum(row.number for row in step.rows if row.field.startswith("lds "))
        other = "other" if loads or "ffma" in mix else "setup"
        mix |= {other: stated["other"].number} if "other" in stated else {}
        if gaps and "gaps" in stated:
            mix["gaps"] = stated["gaps"].numbers
        # All lanes read the same 16 bytes.
        found.append(Compute(Mix(lds=loads, lds_bytes=16, lds_wavefronts=2.0 if loads else 0.0, **mix)))
    return tuple(found)


def error(row: dict, gaps: bool = True) -> float:
    """Predicted over measured, minus one."""
    profile, turn, ctas = load_profile("h200_sxm"), ops(kind(row), gaps), row["ctas_per_sm"]
    warps = SCHEDULERS * row["warps_per_scheduler"] // ctas
    role = Role("worker", warps, lambda tiles: (replace(op, tile=tile) for tile in range(tiles) for op in turn))
    times = []
    for turns in SHORT, LONG:
        program = padded(kernel(role, grid=132 * ctas, tiles=turns), ctas)
        times.append(simulate_kernel(program, profile, trace=False).total_s)
    return (times[1] - times[0]) / (LONG - SHORT) * profile.clock_hz / row["cycles_per_turn"] - 1.0


def errors(gaps: bool = True, **of: object) -> list[float]:
    """Of all rows with these values."""
    found = [error(row, gaps) for row in rows("varied", **of)]
    assert found
    return found


def test_warps_of_a_cta_take_turns():
    """Whether they meet in each turn or not.

    Two warps with a softmax are worst (-12.7 %): their special functions come all at once behind the barrier, which
    nobody counts. It was 12.0 as long as barriers were charged in full, which made up for a part of it.
    """
    for barrier in (True, False):
        found = errors(barrier=barrier, steps=4, ctas_per_sm=1)
        assert fmean(map(abs, found)) <= 0.045
        assert max(map(abs, found)) <= 0.13


def test_warps_that_have_met_wait_for_their_loads_together():
    """Where nothing but a branch stands between barrier and load: 2 to 8 warps of a scheduler, short turns."""
    found = [
        error
        for kind in ("hash", "horner", "nibbles")
        for warps in (2, 3, 4, 6, 8)
        for error in errors(kind=kind, steps=1, barrier=True, ctas_per_sm=1, warps_per_scheduler=warps)
    ]
    assert fmean(map(abs, found)) <= 0.035
    assert max(map(abs, found)) <= 0.075


def test_a_lone_warp_does_arithmetic_while_the_barrier_lets_it_go():
    """Where arithmetic stands behind the barrier; on the device it costs 1 to 3 cycles of 136 to 691."""
    for kind in ("bodies", "option", "softmax"):
        of = {"kind": kind, "ctas_per_sm": 1, "warps_per_scheduler": 1}
        for steps in (1, 4):
            (met,), (free,) = (rows("varied", steps=steps, barrier=barrier, **of) for barrier in (True, False))
            took, alone = met["cycles_per_turn"], free["cycles_per_turn"]
            assert took - alone <= 3.5
            # 16 to 19 if it did not; how a turn is cut in two for it makes one shorter.
            assert -17.0 <= took * (1.0 + error(met)) - alone * (1.0 + error(free)) <= 3.5


def test_so_do_those_of_several_ctas():
    """Short turns of theirs fit into each other's gaps now and then, up to a fifth quicker than is predicted.

    Two CTAs that are in step here meet at the unit for barriers as well: 25 instead of 23 % for one of them.
    """
    for ctas in (2, 4, 8):
        long = errors(steps=4, ctas_per_sm=ctas)
        assert fmean(map(abs, long)) <= 0.04
        assert max(map(abs, long)) <= 0.12
        short = errors(steps=1, ctas_per_sm=ctas)
        assert fmean(map(abs, short)) <= 0.085
        assert max(map(abs, short)) <= 0.25


def test_gaps_are_what_tells():
    """Two and three warps with their gaps, and as if all gaps were filled."""
    for warps in (2, 3):
        of = {"warps_per_scheduler": warps, "ctas_per_sm": 1, "steps": 4}
        assert fmean(errors(**of)) - fmean(errors(gaps=False, **of)) >= 0.03
        assert abs(fmean(errors(**of))) <= 0.04
