"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels._parts.tma_tiles import RING, shared_bytes
from realkernels.tma_warp_specialized import TECHNIQUE, Params


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    defines = tile_defines(params.tile_bytes, params.fma_per_element, params.consumer_warps)
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines | {"STAGES": params.stages},
            warps=params.consumer_warps,
            producer_warps=1,
            role="consumer",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=RING,
        )
    )
