"""What realkernels knows of its GPUs is what the profiles of both say."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile
from gpusim.program import WARP_SIZE
from gpusim.program.registers import MOST_REGISTERS, REGISTER_UNIT
from realkernels._parts import hopper

SAME = {
    "sm.count": hopper.SMS,
    "sm.schedulers": hopper.SCHEDULERS,
    "sm.max_warps": hopper.WARPS_PER_SM,
    "sm.max_ctas": hopper.CTAS_PER_SM,
    "sm.registers": hopper.REGISTERS_PER_SM,
    "sm.register_allocation_unit": WARP_SIZE * REGISTER_UNIT,
    "sm.l1_and_shared_memory": hopper.L1_AND_SHARED_PER_SM,
    "sm.shared_memory": hopper.SHARED_PER_SM,
    "sm.shared_allocation_unit": hopper.SHARED_UNIT,
    "cta.max_registers_per_thread": MOST_REGISTERS,
    "cta.max_shared_memory": hopper.MAX_PER_CTA,
    "cta.reserved_shared_memory": hopper.RESERVED_PER_CTA,
}


@pytest.mark.parametrize("device", ["h100_sxm", "h200_sxm"])
def test_numbers_of_the_measured_gpus_are_those_of_their_profiles(device: str) -> None:
    """One truth in two places, because measuring does without the profiles' YAML."""
    profile = load_profile(device)
    assert {key: profile.value(key) for key in SAME} == SAME
