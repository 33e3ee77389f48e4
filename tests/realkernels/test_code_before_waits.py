"""What consumers do before they wait, by the stall counts of their machine code, as the models state it."""

from __future__ import annotations

from importlib import import_module

import pytest

from gpusim.program import sass
from realkernels._parts import tma_tiles as tma
from realkernels.register_split import model as register_split
from realkernels.three_role import model as three_role
from tests.realkernels.compiled import assemble

TAKEN = 4
"""Cycles of a branch that is taken beyond its stall count (`gpusim.program.sass.alone`)."""
TOLERANCE = 10
"""Cycles by which one compilation may differ: an address that waits for the one before."""
CASES = [
    ("tma_warp_specialized", {"stages": 3}, tma.CONSUMER_CYCLES[0]),
    ("tma_warp_specialized", {"stages": 8, "tile_bytes": 3328, "fma_per_element": 37}, tma.CONSUMER_CYCLES[0]),
    ("tma_warp_specialized", {"stages": 1}, tma.CONSUMER_CYCLES_SINGLE[0]),
    ("three_role", {}, three_role.AHEAD_CYCLES),
    ("three_role", {"input_stages": 4, "output_stages": 3, "tile_bytes": 3328}, three_role.AHEAD_CYCLES),
    ("register_split", {"mode": "uniform", "accumulators": 48}, register_split.AHEAD_CYCLES),
    ("register_split", {"mode": "uniform", "accumulators": 160}, register_split.AHEAD_CYCLES_SPILLED),
]


def cycles_before_wait(instructions: list[sass.Instruction]) -> int:
    """Stall counts of a consumer's turn from its last arrival to its first look at a barrier."""
    loops = sass.branch_loops(instructions)
    vector = next(loop for loop in loops if "LDS.128" in loop.counts)
    tile = next(
        loop for loop in loops
        if loop.first <= vector.first and vector.last <= loop.last and sass.family(loop.counts, "SYNCS")
    )  # fmt: skip
    body = [one for one in instructions if tile.first <= one.address <= tile.last]
    looks = next(at for at, one in enumerate(body) if "PHASECHK" in one.opcode)
    arrives = max(at for at, one in enumerate(body) if "ARRIVE" in one.opcode)
    return sum(max(one.stall or 0, 1) for one in (*body[arrives + 1 :], *body[:looks]) if one.root != "LDL") + TAKEN


@pytest.mark.slow
@pytest.mark.parametrize(("name", "values", "stated"), CASES, ids=str)
def test_the_code_before_a_wait_takes_what_the_model_states(name, values, stated) -> None:
    """Within TOLERANCE of the machine code for sm_90a; skips without tools."""
    technique = import_module(f"realkernels.{name}").TECHNIQUE
    spec = import_module(f"realkernels.{name}.launch").build(technique.make_params(values)).plan.spec()
    assert cycles_before_wait(assemble(spec)[0]) == pytest.approx(stated, abs=TOLERANCE)
