"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels.conv1d_async import TECHNIQUE, Params
from realkernels.conv1d_async.model import TILE, shared_bytes
from realkernels.conv1d_async.oracle import WEIGHT_FLOATS, compare


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    defines = tile_defines(params.tile_bytes, 0, params.warps) | {
        "POINTS": params.kernel_points,
        "VECTOR": params.vector,
        "TRUE_HALO": int(params.halo == "true"),
        "ASYNCHRONOUS": int(params.asynchronous),
    }
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines,
            warps=params.warps,
            role="worker",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=TILE if params.asynchronous else None,
            argument=params.floats,
            input_floats=WEIGHT_FLOATS + params.floats,
            output_floats=params.floats,
            compare=compare,
        )
    )
