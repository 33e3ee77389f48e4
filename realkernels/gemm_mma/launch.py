"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.padding import padded_shared_bytes
from realkernels.gemm_mma import TECHNIQUE, Params
from realkernels.gemm_mma.model import RING, shared_bytes
from realkernels.gemm_mma.oracle import compare


def defines_of(params: Params) -> dict[str, int]:
    """The compile-time constants of ``kernel.cu``."""
    return {
        "WARPS": params.warps,
        "WARPS_M": params.warps_m,
        "TILE_M": params.tile_m,
        "TILE_N": params.tile_n,
        "DEPTH": params.depth,
        "STAGES": params.stages,
        "GRID_M": params.grid_m,
    }


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    halves = params.k_tiles * (params.grid_m * params.a_bytes + params.grid_n * params.b_bytes) // 2
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines_of(params),
            warps=params.warps,
            role="worker",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=RING,
            input_floats=halves // 2,
            halves=True,
            output_floats=params.grid_m * params.tile_m * params.grid_n * params.tile_n,
            compare=compare,
        )
    )
