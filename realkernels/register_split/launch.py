"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.program.registers import allocated_registers
from realkernels._harness import oracle
from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels._parts.tma_tiles import shared_bytes
from realkernels.register_split import PRODUCER_WARPS, TECHNIQUE, Params
from realkernels.register_split.model import RING


class SplitLauncher(Launcher):
    """A launcher that starts no kernel whose consumers would wait for registers that nobody gives up."""

    def prepare(self) -> SplitLauncher:
        """As `Launcher.prepare`. Raises RuntimeError also where the split asks for more than the CTA has."""
        super().prepare()
        params = self.plan.params
        if params.mode == "split":
            at_launch = allocated_registers(self.registers) * params.warps
            asked = params.producer_registers * PRODUCER_WARPS + params.consumer_registers * params.consumer_warps
            if asked > at_launch:
                raise RuntimeError(
                    f"{TECHNIQUE.name} {params}: the split asks for {32 * asked} registers, the CTA was compiled for "
                    f"{32 * at_launch}; setmaxnreg would wait for ever"
                )
        return self


def weight_sum(accumulators: int) -> float:
    """Sum of the weights by which ``Sums`` of the kernel multiplies an element."""
    count = accumulators // 4
    return count + count * (count - 1) / 2 / 64


def compare(data: Any, out: Any, plan: Plan, a: np.float32, b: np.float32) -> float:
    """`oracle.compare` for sums that are weighted; every accumulator counts with its own weight."""
    return oracle.compare(data, out / np.float32(weight_sum(plan.params.accumulators)), plan, a, b)


def build(params: Params) -> SplitLauncher:
    """The launcher of one configuration."""
    split = params.mode == "split"
    defines = tile_defines(params.tile_bytes, params.fma_per_element, params.consumer_warps) | {
        "STAGES": params.stages,
        "ACCUMULATORS": params.accumulators,
        "MIN_CTAS": params.ctas_per_sm,
        "PRODUCER_REGISTERS": params.producer_registers if split else 0,
        "CONSUMER_REGISTERS": params.consumer_registers if split else 0,
    }
    return SplitLauncher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines,
            warps=params.consumer_warps,
            producer_warps=PRODUCER_WARPS,
            observer_warps=0,
            role="consumer",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=RING,
            compare=compare,
        )
    )
