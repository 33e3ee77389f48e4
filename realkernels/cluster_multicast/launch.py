"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from functools import partial

from realkernels._harness.launcher import Launcher, Plan
from realkernels._harness.oracle import compare
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels._parts.tma_tiles import RING
from realkernels.cluster_multicast import TECHNIQUE, Params
from realkernels.cluster_multicast.model import shared_bytes


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    defines = tile_defines(params.tile_bytes, params.fma_per_element, params.consumer_warps)
    own = {"STAGES": params.stages, "CLUSTER": params.cluster, "MULTICAST": int(params.multicast)}
    own |= {"PEERS": int(params.peers)}
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines | own,
            warps=params.consumer_warps,
            producer_warps=1 + params.peers,
            role="consumer",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=RING,
            input_floats=params.grid // params.cluster * params.tiles_per_cta * params.tile_bytes // 4,
            compare=partial(compare, among=params.cluster, whole=params.peers),
        )
    )
