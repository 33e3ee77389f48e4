"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels.stencil2d import TECHNIQUE, Params
from realkernels.stencil2d.model import RING, shared_bytes
from realkernels.stencil2d.oracle import compare, input_floats


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    defines = tile_defines(params.tile_bytes, params.fma_per_element, params.warps)
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines | {"RADIUS": params.radius, "STAGES": params.stages, "STRIPS": params.strips},
            warps=params.warps,
            role="worker",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=RING,
            reach=2 * params.radius,
            input_floats=input_floats(params),
            output_floats=params.width * params.height,
            compare=compare,
        )
    )
