"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels.sync_tile import TECHNIQUE, Params
from realkernels.sync_tile.model import shared_bytes


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=tile_defines(params.tile_bytes, params.fma_per_element, params.warps) | {"BATCH": params.batch},
            warps=params.warps,
            role="worker",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
        )
    )
