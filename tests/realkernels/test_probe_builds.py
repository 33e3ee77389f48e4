"""The instrumented build of a kernel: the machine code between its stamps is that of the plain build."""

from __future__ import annotations

import pytest

from gpusim.program import sass
from gpusim.validation.recording import TIMELINES, list_timelines
from realkernels._harness.launcher import Plan
from realkernels._harness.measure import technique_named
from tests.realkernels.compiled import assemble

DEVICE = "h200_sxm"
TECHNIQUES = (
    "sync_tile", "register_prefetch", "cp_async_multistage", "tma_warp_specialized", "three_role", "persistent",
)  # fmt: skip
"""Those that treat a tile by ``tile.cuh``: a loop over vectors in which no stamp is taken."""
KERNELS_EACH = 3
SLACK = 0.1
"""A register more or less changes how long the compiler lets the ends of a loop wait."""


def _plans(name: str) -> list[Plan]:
    """Some recorded timelines of a technique, spread over all of them."""
    technique = technique_named(name)
    metas = list(list_timelines(technique.folder / "recorded" / DEVICE / TIMELINES).values())
    launchers = [technique.launch(technique.make_params(meta["params"])) for meta in metas]
    return [launcher.plan for launcher in launchers[:: max(len(launchers) // KERNELS_EACH, 1)]]


def _vector_loops(plan: Plan, *, instrumented: bool) -> list[int]:
    """Cycles that the compiler lets a lone warp take for each loop over vectors."""
    instructions, _ = assemble(plan.spec(instrumented))
    bodies = [
        [i for i in instructions if loop.first <= i.address <= loop.last] for loop in sass.branch_loops(instructions)
    ]
    return [
        sum(i.stall or 0 for i in body)
        for body in bodies
        if {"FFMA", "FADD"} & {i.opcode for i in body}
        and any(i.opcode.startswith("LDS") for i in body)
        and not any(i.opcode.startswith(("BAR", "SYNCS", "WARPSYNC", "CS2R")) for i in body)
    ]


@pytest.mark.parametrize("name", TECHNIQUES)
def test_stamps_leave_the_loop_over_vectors_alone(name: str) -> None:
    """Registers saved for stamps once made chains of FMAs follow each other, and what was timed took twice as long."""
    for plan in _plans(name):
        (plain,) = _vector_loops(plan, instrumented=False)
        stamped = _vector_loops(plan, instrumented=True)
        assert stamped == [pytest.approx(plain, rel=SLACK)], plan.params
