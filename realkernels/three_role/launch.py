"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from realkernels._harness import oracle, probe
from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels.three_role import TECHNIQUE, Params
from realkernels.three_role.model import INPUT, OUTPUT, shared_bytes

LANES = {probe.HEAD: "compute", probe.TAIL: "storer", probe.PRODUCER: "loader"}
"""The storer takes the place of the computing warps with less to do."""


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    defines = tile_defines(params.tile_bytes, params.fma_per_element, params.compute_warps)
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines | {"INPUT_STAGES": params.input_stages, "OUTPUT_STAGES": params.output_stages},
            warps=params.compute_warps,
            producer_warps=2,
            role="compute",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=INPUT,
            output_ring=OUTPUT,
            lanes=LANES,
            output_floats=params.grid * params.tiles_per_cta * params.tile_bytes // 4,
            compare=oracle.compare_tiles,
        )
    )
