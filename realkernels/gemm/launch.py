"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels._parts.tma_tiles import shared_bytes
from realkernels.gemm import TECHNIQUE, Params
from realkernels.gemm.model import RING
from realkernels.gemm.oracle import compare


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    warps = 4 * params.warpgroups
    defines = tile_defines(params.tile_bytes, 0, warps) | {
        "STAGES": params.stages,
        "UNDER_WAY": params.pending,
        "GRID_M": params.grid_m,
        "WGMMA_N": params.tile_n,
        "WGMMA_TYPE": "tf32",
        "WGMMA_BITS": 32,
    }
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines,
            warps=warps,
            producer_warps=1,
            role="consumer",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=RING,
            input_floats=params.k_tiles * (params.grid_m * params.a_bytes + params.grid_n * params.b_bytes) // 4,
            output_floats=params.grid_m * params.tile_m * params.grid_n * params.tile_n,
            compare=compare,
        )
    )
