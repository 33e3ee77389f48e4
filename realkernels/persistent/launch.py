"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from realkernels._harness import oracle
from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.cp_async_tiles import ISSUE_UNROLL, RING, shared_bytes
from realkernels._parts.padding import padded_shared_bytes
from realkernels._parts.tile_loop import tile_defines
from realkernels.persistent import TECHNIQUE, Params


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    defines = tile_defines(params.tile_bytes, params.fma_per_element, params.warps)
    more = {"STAGES": params.stages, "ISSUE_UNROLL": ISSUE_UNROLL, "TILES_PER_ITEM": params.tiles_per_item}
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines | more,
            warps=params.warps,
            role="worker",
            shared_bytes=padded_shared_bytes(shared_bytes(params), params.ctas_per_sm),
            ring=RING,
            argument=params.items,
            input_floats=params.items * params.tiles_per_item * params.tile_bytes // 4,
            output_floats=params.items * params.warps,
            compare=compare,
        )
    )


def compare(data: Any, out: Any, plan: Plan, a: np.float32, b: np.float32) -> float:
    """Largest error over a sample of items, in units of the tolerance; see `oracle.compare`."""
    params = plan.params
    table = data.reshape(params.items, params.tiles_per_item, params.tile_bytes // 4).transpose(1, 0, 2)
    one_cta_per_item = SimpleNamespace(
        tile_bytes=params.tile_bytes,
        fma_per_element=params.fma_per_element,
        grid=params.items,
        tiles_per_cta=params.tiles_per_item,
    )
    return oracle.compare(table, out, replace(plan, params=one_cta_per_item), a, b)
