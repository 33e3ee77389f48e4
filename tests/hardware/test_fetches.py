"""Operands that meet in a bank, of instructions on a pipe of half rate, against the bench `fetches`."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import Compute, Mix, Role
from gpusim.program.sass import Instruction, dispatch_stalls
from tests.bench_rows import rows
from tests.tile_programs import kernel

TURNS = 40


@pytest.mark.parametrize("kind", ["LOP3", "SHF"])
@pytest.mark.parametrize("warps", [1, 2, 4, 8])
def test_a_pipe_of_half_rate_hides_that_operands_meet(kind, warps):
    """Half of the LOP3 have operands that meet, no shift has, and both take two cycles each; within 7 %."""
    (turn,) = {tuple(row["sass_turn"]) for row in rows("fetches", kind=kind, apart=6) if row["sass_turn"]}
    body = [Instruction.of(text) for text in turn]
    stalls = dispatch_stalls(body)
    assert stalls.register_conflicts < 5
    mix = Mix(
        interleaved=len(body), register_conflicts=stalls.register_conflicts, pipe_stalls=stalls.pipe_stalls,
        half_rate=stalls.half_rate,
    )  # fmt: skip

    def loop(tiles):
        yield from (Compute(mix, tile=tile) for tile in range(tiles))

    device = load_profile("h200_sxm", {"sm.count": 1})
    few_s, all_s = (
        simulate_kernel(kernel(Role("worker", 4 * warps, loop), tiles=tiles), device, exact=True).total_s
        for tiles in (TURNS, 2 * TURNS)
    )
    for row in rows("fetches", kind=kind, warps_per_scheduler=warps):
        assert (all_s - few_s) * device.clock_hz / TURNS == pytest.approx(row["cycles_per_turn"], rel=0.07)
