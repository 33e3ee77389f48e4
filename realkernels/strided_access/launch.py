"""Runs ``kernel.cu``; needs CuPy and a GPU when something is measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.program import WARP_SIZE
from realkernels._harness import oracle
from realkernels._harness.launcher import Launcher, Plan
from realkernels._parts.tile_loop import tile_defines
from realkernels.strided_access import TECHNIQUE, Params

MIXES = 0x85EBCA6B, 0xC2B2AE35
"""Multipliers of the finalizer of MurmurHash3, after which no order of the numbers is left."""
BLOCK = 1 << 22
"""Vectors that the oracle gathers at a time."""


def build(params: Params) -> Launcher:
    """The launcher of one configuration."""
    defines = tile_defines(params.tile_bytes, params.fma_per_element, params.warps)
    more = {
        "LOADS": params.loads,
        "VECTOR_BYTES": params.vector_bytes,
        "RANDOM": int(params.pattern == "random"),
        "ADVANCE": advance(params),
        "MIX_1": MIXES[0],
        "MIX_2": MIXES[1],
        "LOG2_FOOTPRINT": params.footprint_bytes.bit_length() - 1,
    }
    return Launcher(
        Plan(
            technique=TECHNIQUE,
            params=params,
            defines=defines | more,
            warps=params.warps,
            role="worker",
            shared_bytes=0,
            input_floats=params.footprint_bytes // 4,
            compare=compare,
        )
    )


def advance(params: Params) -> int:
    """What the kernel's index grows by from one vector of the sequence to the next."""
    return 1 if params.pattern == "random" else params.stride * params.vector_bytes


def places(params: Params, number: np.ndarray) -> np.ndarray:
    """Byte offsets of the vectors ``number`` … of the sequence, as the kernel works them out."""
    at = (number * advance(params)).astype(np.uint32)
    if params.pattern == "strided":
        return at & np.uint32(params.footprint_bytes - 1)
    for fold, mix in zip((16, 13), MIXES, strict=True):
        at ^= at >> np.uint32(fold)
        at = (at.astype(np.uint64) * mix).astype(np.uint32)
    at ^= at >> np.uint32(16)
    at >>= np.uint32(33 - params.footprint_bytes.bit_length())
    return at & np.uint32(0xFFFFFFFF - params.vector_bytes + 1)


def expected(data: Any, params: Params, cta: int) -> np.ndarray:
    """Partial sums of the warps of one CTA, float64."""
    threads, rounds = WARP_SIZE * params.warps, params.tiles_per_cta * params.loads
    first = cta * threads + np.arange(threads, dtype=np.uint64)
    vectors = data.reshape(-1, params.vector_bytes // 4)
    sums = np.zeros(threads)
    each = max(BLOCK // threads, 1)
    for begin in range(0, rounds, each):
        turn = np.arange(begin, min(begin + each, rounds), dtype=np.uint64)[:, None]
        number = first + turn * np.uint64(params.grid * threads)
        where = (places(params, number) // params.vector_bytes).astype(np.int64)
        sums += np.asarray(vectors[where].get(), dtype=np.float64).sum(axis=(0, 2))
    return sums.reshape(params.warps, WARP_SIZE).sum(axis=1)


def compare(data: Any, out: Any, plan: Plan, a: np.float32, b: np.float32) -> float:  # noqa: ARG001 - no affine map
    """Largest error over a sample of CTAs, in units of the tolerance; see `oracle.compare`."""
    params = plan.params
    result = out.get().reshape(params.grid, params.warps).astype(np.float64)
    where = f"{plan.technique.name} {params}"
    if not np.isfinite(result).all():
        raise AssertionError(f"{where}: {int((~np.isfinite(result)).sum())} partial sums were never written")
    limit = oracle.tolerance(params.tiles_per_cta * params.loads, 0)
    worst = 0.0
    for cta in oracle.sample(params.grid, params.tiles_per_cta * params.tile_bytes):
        wanted = expected(data, params, cta)
        error = np.abs(result[cta] - wanted) / wanted
        worst = max(worst, float(error.max()) / limit)
        if worst > 1.0:
            raise AssertionError(f"{where}: CTA {cta} is off by {error.max():.3g} (relative), allowed is {limit:.3g}")
    return worst
