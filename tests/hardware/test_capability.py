"""Ops that a device does not have."""

from __future__ import annotations

import pytest

from gpusim.errors import ProgramError
from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.capability import check_capability
from gpusim.program import Atomic, Ring, Role, SetMaxNReg, TmaLoad
from tests.tile_programs import RING, cp_async_ring, kernel, one_role, sync_loop, tma_ring


@pytest.mark.parametrize(("device", "capability"), [("a100_sxm", "8.0"), ("rtx4090", "8.9")])
def test_bulk_copies_need_hopper(device, capability):
    """The error names role, what is needed, what there is and a way out."""
    with pytest.raises(
        ProgramError, match=rf"'producer': bulk copies take .* 9\.0, {device} has {capability}; use cp\.async"
    ):
        simulate_kernel(tma_ring(2), load_profile(device))


def test_setmaxnreg_needs_hopper():
    """Ampere has no such instruction."""
    program = kernel(Role("worker", 4, lambda _tiles: iter([SetMaxNReg(40)])), registers=40)
    with pytest.raises(ProgramError, match="setmaxnreg"):
        simulate_kernel(program, load_profile("a100_sxm"))


def test_of_several_missing_instructions_the_same_one_is_named_in_every_run():
    """Not the one that happens to come first in a set of types."""
    program = one_role(SetMaxNReg(40), TmaLoad(RING, 128), warps=4, rings=(Ring(RING, 1, 128),))
    with pytest.raises(ProgramError, match="bulk copies"):
        check_capability(program, load_profile("a100_sxm"))


@pytest.mark.parametrize("program", [cp_async_ring(2), sync_loop()])
def test_other_copies_run_on_ampere(program):
    """Both ways of copying that Ampere has."""
    assert simulate_kernel(program, load_profile("a100_sxm"), trace=False).total_s > 0.0


@pytest.mark.parametrize("device", ["h100_sxm", "h200_sxm", "b200", "textbook"])
def test_newer_devices_have_bulk_copies(device):
    """Hopper, Blackwell and the textbook."""
    assert simulate_kernel(tma_ring(2), load_profile(device), trace=False).total_s > 0.0


def test_atomics_on_vectors_need_hopper():
    """Those of a number run on every device."""
    ampere = load_profile("a100_sxm")
    assert simulate_kernel(one_role(Atomic(4096, width=8)), ampere, trace=False).total_s > 0.0
    with pytest.raises(
        ProgramError, match=r"atomics of 16 bytes take .* 9\.0, a100_sxm has 8\.0; use a width of 4 or 8"
    ):
        simulate_kernel(one_role(Atomic(4096, width=16)), ampere)
