"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.cp_async_tiles import ISSUE_UNROLL, RING, shared_bytes
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels.cp_async_multistage import TECHNIQUE, Params


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    defines = tile_defines(params.tile_bytes, params.fma_per_element, params.warps)
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines | {"STAGES": params.stages, "ISSUE_UNROLL": ISSUE_UNROLL},
            warps=params.warps,
            role="worker",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=RING,
        )
    )
