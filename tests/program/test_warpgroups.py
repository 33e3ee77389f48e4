"""Warpgroups that ``setmaxnreg`` is for: whole ones, of roles that ask for the same."""

from __future__ import annotations

import re

import pytest

from gpusim.errors import ProgramError
from gpusim.scenario import loads, predict

SPLIT = """
question: Whose registers are they?
device: h200_sxm
kernel: {grid: 132, tiles_per_cta: 4, registers: 64, idle_warps: IDLE, roles: {ROLES}}
"""


def split(roles: dict[str, tuple[int, int]], idle: int = 0):
    """Roles of so many warps that ask for so many registers (0: for none)."""
    told = []
    for name, (warps, registers) in roles.items():
        prologue = f"prologue: [{{set_max_nreg: {registers}}}], " if registers else ""
        told.append(f"{name}: {{warps: {warps}, {prologue}per_tile: [{{compute: {{ffma: 4}}}}]}}")
    return loads(SPLIT.replace("ROLES", ", ".join(told)).replace("IDLE", str(idle)))


@pytest.mark.parametrize(
    ("roles", "idle", "told"),
    [
        ({"a": (1, 24), "b": (4, 72)}, 0, "that of role 'a' (1 warp) lacks 3, and the next are those of role 'b'"),
        ({"a": (1, 24), "b": (4, 72)}, 3, ""),
        ({"a": (4, 24), "b": (8, 72)}, 0, ""),
        ({"a": (2, 24), "b": (2, 24), "c": (4, 72)}, 0, ""),
        ({"a": (2, 0), "b": (2, 64), "c": (4, 64)}, 0, "that of role 'a' (2 warps) lacks 2"),
        ({"a": (1, 0), "b": (2, 0)}, 0, ""),
    ],
)
def test_warpgroups_that_roles_share(roles, idle, told):
    """All their warps execute the same setmaxnreg; idle warps may complete any of them."""
    scenario = split(roles, idle)
    if told:
        with pytest.raises(ProgramError, match=re.escape(told)):
            predict(scenario, trace=False)
    else:
        assert predict(scenario, trace=False).total_s > 0
        assert scenario.doubts() == ()


def test_a_warpgroup_of_fewer_warps():
    """A CTA may end with one; PTX speaks of whole ones."""
    (told,) = split({"a": (2, 24)}).doubts()
    assert told.startswith(
        "setmaxnreg is for whole warpgroups of 4 warps, and that of role 'a' (2 warps) lacks 2; count"
    )
    assert split({"a": (2, 24)}, idle=2).doubts() == ()
    assert split({"a": (4, 24), "b": (2, 0)}).doubts() == ()
