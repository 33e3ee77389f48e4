"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels.attention import PRODUCER_REGISTERS, PRODUCER_WARPS, TECHNIQUE, Params
from realkernels.attention.model import KEYS, shared_bytes
from realkernels.attention.oracle import compare


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    warps = 4 * params.warpgroups
    defines = tile_defines(params.tile_bytes, 0, warps) | {
        "HEAD": params.head,
        "KEYS": params.tile_keys,
        "STAGES": params.stages,
        "UNDER_WAY": params.pending,
        "PING_PONG": int(params.ping_pong),
        "QUERY_TILES": params.query_tiles,
        "MIN_CTAS": params.ctas_per_sm,
        "PRODUCER_REGISTERS": PRODUCER_REGISTERS,
        "CONSUMER_REGISTERS": params.consumer_registers,
    }
    halves = params.grid * params.query_bytes + params.heads * params.tiles_per_cta * params.tile_bytes
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines,
            warps=warps,
            producer_warps=PRODUCER_WARPS,
            observer_warps=0,
            role="consumer",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=KEYS,
            input_floats=halves // 4,
            halves=True,
            output_floats=params.grid * params.queries * params.head,
            compare=compare,
        )
    )
