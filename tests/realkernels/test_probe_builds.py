"""The instrumented build of a kernel: the machine code between its stamps is that of the plain build."""

from __future__ import annotations

import pytest

from gpusim.program import sass
from gpusim.validation.recording import TIMELINES, list_timelines
from realkernels._harness.launcher import Plan
from realkernels._harness.measure import technique_named
from tests.realkernels.compiled import assemble

DEVICE = "h200_sxm"
TECHNIQUES = ("sync_tile", "register_prefetch", "cp_async_multistage", "tma_warp_specialized", "three_role", "persistent")
"""Those that treat a tile by ``tile.cuh``: a loop over vectors in which no stamp is taken."""
KERNELS_EACH = 3
SLACK = 2
"""Cycles: a register more or less changes how long the compiler lets the loop's branch wait."""


def _plans(name: str) -> list[Plan]:
    """Some recorded timelines of a technique, spread over all of them."""
    technique = technique_named(name)
    metas = list(list_timelines(technique.folder / "recorded" / DEVICE / TIMELINES).values())
    launchers = [technique.launch(technique.make_params(meta["params"])) for meta in metas]
    return [launcher.plan for launcher in launchers[:: max(len(launchers) // KERNELS_EACH, 1)]]


def _vector_loop(plan: Plan, *, instrumented: bool) -> tuple[int, int]:
    """Instructions of the shortest loop with FMAs, and the cycles that the compiler lets a lone warp take for it."""
    instructions, _ = assemble(plan.spec(instrumented))
    loop = next(loop for loop in sass.loops(instructions) if sass.family(loop.counts, "FFMA", "FADD"))
    body = [i for i in instructions if loop.first <= i.address <= loop.last]
    return len(body), sum(i.stall or 0 for i in body)


@pytest.mark.parametrize("name", TECHNIQUES)
def test_stamps_leave_the_loop_over_vectors_alone(name: str) -> None:
    """Registers saved for stamps once made chains of FMAs follow each other, and what was timed took twice as long."""
    for plan in _plans(name):
        plain, stamped = (_vector_loop(plan, instrumented=instrumented) for instrumented in (False, True))
        assert stamped[0] == plain[0], plan.params
        assert abs(stamped[1] - plain[1]) <= SLACK, plan.params
