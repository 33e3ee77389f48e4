"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels.occupancy_sweep import TECHNIQUE, Params
from realkernels.occupancy_sweep.model import held, min_ctas


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    defines = tile_defines(params.tile_bytes, params.fma_per_element, params.warps)
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines | {"LOADS": params.loads, "HELD": held(params), "MIN_CTAS": min_ctas(params)},
            warps=params.warps,
            role="worker",
            shared_bytes=padded_shared_bytes(0, params.ctas_per_sm) if params.limiter == "shared_memory" else 0,
        )
    )
