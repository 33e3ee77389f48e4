"""Short steps of integer and floating-point code between barriers, by the counts of their machine code.

Two numbers come from these loops: the cycles of a branch that is taken, and how late a pipe of half rate may be.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from statistics import fmean

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import Compute, Mix, Role, SyncThreads
from gpusim.program.sass import Instruction, Part, cycles_alone, steps_of
from tests.bench_rows import rows
from tests.tile_programs import kernel, padded

NAMES = ("ffma", "interleaved", "mufu", "lds", "sts", "ilp", "loads_in_flight", "load_to_use", "register_conflicts",
         "pipe_stalls", "half_rate", "alone")  # fmt: skip
SHORT, LONG = 200, 600
"""Turns; the first ones are not like the others."""
HAND_OVER = 28
"""Cycles from the barrier until the word of the neighbour is there: both take as long whatever stands before them."""


def kind(row: dict) -> tuple:
    """What its code hangs on."""
    return row["kind"], row["length"], row["chains"], row["barrier"]


@cache
def code() -> dict[tuple, list[Instruction]]:
    """The step of each kind, as it was disassembled."""
    return {
        kind(row): [Instruction.of(text, 16 * at, stall) for at, (stall, text) in enumerate(row["sass_step"])]
        for row in rows("steps") if row["sass_step"]
    }  # fmt: skip


@cache
def ops(of: tuple) -> tuple:
    """What `gpusim count --in-order` says of a step, as ops."""
    body = code()[of]
    part = Part("loop 1", 0, 16 * len(body), tuple(body))
    found = []
    for step in steps_of(part, [part]):
        stated = {row.field.split(" ")[0]: row.number for row in step.rows}
        if step.word == "sync_threads":
            found.append(SyncThreads())
        else:
            mix = {name: stated[name] for name in NAMES if name in stated}
            found.append(Compute(Mix(setup=stated.get("other", 0), lds_bytes=4, sts_bytes=4, **mix)))
    return tuple(found)


def error(row: dict) -> float:
    """Predicted over measured, minus one."""
    profile, step = load_profile("h200_sxm"), ops(kind(row))
    role = Role("worker", row["warps"], lambda tiles: (replace(op, tile=tile) for tile in range(tiles) for op in step))
    times = []
    for turns in SHORT, LONG:
        program = padded(kernel(role, grid=132 * row["ctas_per_sm"], tiles=turns), row["ctas_per_sm"])
        times.append(simulate_kernel(program, profile, trace=False).meta["total_s"])
    cycles = (times[1] - times[0]) / (LONG - SHORT) * profile.clock_hz
    return cycles / row["cycles_per_step"] - 1.0


@pytest.mark.parametrize("of", [of for of in code() if of[-1]], ids=str)
def test_a_warp_alone_takes_as_long_as_its_stall_counts_say(of):
    """One warp a scheduler: the rest of a step is the same for all kinds."""
    (row,) = [row for row in rows("steps", warps=4, ctas_per_sm=1) if kind(row) == of]
    conversion = 10 if of[0] == "ffma" else 0  # I2F of the neighbour's word, which FFMA waits for
    assert row["cycles_per_step"] == pytest.approx(
        cycles_alone(code()[of], loop=True) + HAND_OVER + conversion, abs=4.5
    )


@cache
def errors() -> dict[tuple[int, int], list[float]]:
    """Of all kinds, by warps and CTAs of an SM."""
    found: dict[tuple[int, int], list[float]] = {}
    for row in rows("steps"):
        found.setdefault((row["warps"], row["ctas_per_sm"]), []).append(error(row))
    return found


def test_steps_of_one_warp_a_scheduler_are_right():
    """Nothing but the machine code says how long they take."""
    assert fmean(map(abs, errors()[4, 1])) <= 0.006
    assert max(map(abs, errors()[4, 1])) <= 0.04


def test_steps_of_several_warps_are_nearly_right():
    """On average; the worst are short steps of several CTAs."""
    all_errors = [one for several in errors().values() for one in several]
    assert len(all_errors) == 240
    assert fmean(map(abs, all_errors)) <= 0.037
    assert max(map(abs, all_errors)) <= 0.2
