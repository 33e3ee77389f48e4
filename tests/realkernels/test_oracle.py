"""The NumPy oracle accepts a float32 emulation of the kernel and rejects a wrong one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from realkernels._harness import oracle
from realkernels._harness.launcher import A, B


class Device(np.ndarray):
    """A NumPy array that answers ``get`` like a CuPy one."""

    def get(self) -> np.ndarray:
        """The plain array."""
        return np.asarray(self)


def emulate(data: np.ndarray, params, warps: int) -> np.ndarray:
    """The kernel in float32: FMAs, four chains per thread, partial sums per warp."""
    floats = params.tile_bytes // 4
    x = data.reshape(params.tiles_per_cta, params.grid, floats).copy()
    for _ in range(params.fma_per_element):
        x = (x * A + B).astype(np.float32)
    vectors = floats // 4
    out = np.zeros((params.grid, warps), np.float32)
    thread = np.arange(vectors) % (32 * warps)
    for cta in range(params.grid):
        sums = np.zeros((32 * warps, 4), np.float32)
        for tile in x[:, cta].reshape(-1, vectors, 4):
            for first in range(0, vectors, 32 * warps):
                part = tile[first : first + 32 * warps]
                sums[thread[first : first + len(part)]] += part
        out[cta] = sums.sum(axis=1, dtype=np.float32).reshape(warps, 32).sum(axis=1, dtype=np.float32)
    return out.reshape(-1)


def problem(fma: int):
    """Input, plan and the emulated output of a small uneven configuration."""
    params = SimpleNamespace(tile_bytes=2064, fma_per_element=fma, grid=3, tiles_per_cta=40)
    plan = SimpleNamespace(technique=SimpleNamespace(name="emulated"), params=params, warps=3)
    data = np.random.default_rng(1).random(3 * 40 * 2064 // 4, dtype=np.float32)
    return data.view(Device), plan, emulate(data, params, 3)


@pytest.mark.parametrize("fma", [0, 1, 17, 256])
def test_a_float32_kernel_passes(fma) -> None:
    """Rounding of float32 stays well inside the tolerance."""
    data, plan, out = problem(fma)
    assert oracle.compare(data, out.view(Device), plan, A, B) < 0.7


@pytest.mark.parametrize("spoil", ["element", "fma", "missing", "warp"])
def test_a_wrong_kernel_fails(spoil) -> None:
    """One tile replaced, one FMA too few, an output never written, two warps exchanged."""
    data, plan, out = problem(16)
    if spoil == "element":
        other = data.copy()
        other[:516] = other[516:1032]
        out = emulate(np.asarray(other), plan.params, 3)
    elif spoil == "fma":
        out = emulate(np.asarray(data), SimpleNamespace(**vars(plan.params) | {"fma_per_element": 15}), 3)
    elif spoil == "missing":
        out[4] = np.nan
    else:
        out[[0, 1]] = out[[1, 0]]
    with pytest.raises(AssertionError, match=r"off by|never written"):
        oracle.compare(data, out.view(Device), plan, A, B)


def test_the_closed_form_equals_repeated_application() -> None:
    """Against n applications of x -> a x + b in a loop."""
    x = np.linspace(0.0, 1.0, 7)
    y = x.copy()
    for _ in range(33):
        y = y * float(A) + float(B)
    assert np.allclose(oracle.affine(x, A, B, 33), y, rtol=1e-13)
