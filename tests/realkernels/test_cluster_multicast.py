"""Parts that peers load: what the machine code has around the loads, and what the model says of stages and barriers."""

from __future__ import annotations

import pytest

from gpusim.hardware.profile import load_profile
from gpusim.program import Arrive, LoadCluster, TmaLoad, sass
from realkernels.cluster_multicast import TECHNIQUE, Params
from realkernels.cluster_multicast.model import ADDRESSES_OTHER, AHEAD, BETWEEN_VECTORS, build, shared_bytes
from tests.realkernels.compiled import assemble, instructions_of

SETUP = load_profile("h200_sxm").value("sm.setup_latency")
"""Cycles of an instruction that waits for the one before."""


def peers(**more: object) -> Params:
    """A cluster of four whose CTAs load from each other."""
    return Params(**{"copies": "peers", "cluster": 4, "stages": 3} | more)


@pytest.mark.slow
@pytest.mark.parametrize("values", [{}, {"fma_per_element": 16}, {"tile_bytes": 8832, "cluster": 2}], ids=str)
def test_code_around_loads_takes_what_the_model_states(values):
    """So many loads are under way at once; of the rest a few cycles are between vectors."""
    params = peers(**values)
    instructions = assemble(TECHNIQUE.launch(params).plan.spec())[0]
    batch = next(loop for loop in sass.branch_loops(instructions) if sass.family(loop.counts, "LD"))
    body = instructions_of(instructions, batch)
    arithmetic = sass.family(batch.counts, "FFMA", "FADD")
    assert sass.family(batch.counts, "LD") == AHEAD
    assert arithmetic == 4 * AHEAD * (params.fma_per_element + 1)
    others = sum(max(one.stall or 0, 1) for one in body if one.root not in ("FFMA", "FADD"))
    stated = (ADDRESSES_OTHER + AHEAD * BETWEEN_VECTORS) * SETUP
    assert others == pytest.approx(stated, rel=0.2)


def test_a_stage_holds_the_part_of_a_cta():
    """The ring takes a fraction of the shared memory, and a barrier more for each stage."""
    params = peers(tile_bytes=16384)
    program = build(params)
    (ring,) = program.rings
    assert (ring.bytes, shared_bytes(params)) == (4096, 3 * (4096 + 24))
    assert [barrier.arrivals for barrier in program.barriers] == [4, 4, 4]


def test_each_gets_its_part_and_loads_the_others():
    """Of two tiles: a copy of a quarter of each, one arrival in each CTA, and three quarters from peers."""
    program = build(peers(tile_bytes=16384, consumer_warps=8))
    ops = [op for role in program.roles for op in role.body(2)]
    assert [op.bytes for op in ops if isinstance(op, TmaLoad)] == [4096, 4096]
    assert sum(op.bytes for op in ops if isinstance(op, LoadCluster)) == 2 * 12288
    assert [op.cluster for op in ops if isinstance(op, Arrive)] == [True, True]


def test_parts_are_whole_units():
    """As of copies for all."""
    with pytest.raises(ValueError, match="are no 4 equal parts: use a multiple of 64"):
        peers(tile_bytes=8208)
