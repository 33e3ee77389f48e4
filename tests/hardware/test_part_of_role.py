"""Ops that only the first warps of a role execute, in cycles of the textbook device (1 GHz)."""

from __future__ import annotations

import pytest

from gpusim.program import Compute, Load, Mix, Role, Store, SyncThreads
from tests.tile_programs import kernel, one_role, total_ns


@pytest.mark.parametrize(("some", "expected"), [(1, 100), (4, 100), (5, 200), (8, 200), (None, 200)])
def test_a_scheduler_works_for_those_that_execute_it_only(some, expected):
    """T = ⌈some / 4⌉ × 100 FFMAs, while the others of eight warps wait at the barrier."""
    ops = Compute(Mix(ffma=100), warps=some), SyncThreads()
    assert total_ns(one_role(*ops, warps=8)) == pytest.approx(expected)


def test_the_others_go_on():
    """One warp computes for 100 cycles more, beside the 60 of the other three: nobody waits for it."""
    beside = Compute(Mix(ffma=100), warps=1), Compute(Mix(ffma=60))
    assert total_ns(one_role(*beside, warps=4)) == pytest.approx(160)
    meets = total_ns(one_role(*beside, SyncThreads(), Compute(Mix(ffma=60)), warps=4))
    assert meets == pytest.approx(220)


def test_is_the_same_as_roles_of_their_own():
    """A first warp that loads and stores what the others do not, and a role of one warp beside one of three."""
    shared = Load(1 << 12), Compute(Mix(ffma=40)), SyncThreads()
    own = Load(512, warps=1), Compute(Mix(ffma=30), warps=1), Store(512, warps=1)
    one = one_role(*own, *shared, warps=4)

    def part(warps, *before):
        ops = *before, Load((1 << 12) * warps // 4), Compute(Mix(ffma=40)), SyncThreads()
        return Role(f"of{warps}", warps, lambda _tiles: iter(ops))

    alone = (Load(512), Compute(Mix(ffma=30)), Store(512))
    two = kernel(part(1, *alone), part(3))
    assert total_ns(one) == pytest.approx(total_ns(two))


def test_more_warps_than_the_role_has():
    """Is told, with the role and both numbers."""
    with pytest.raises(ValueError, match=r"role 'worker', Compute of tile -1: asks for 5 warps, but the role has 4"):
        total_ns(one_role(Compute(Mix(ffma=1), warps=5), warps=4))
