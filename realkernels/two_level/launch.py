"""Runs the program of `model.py` on the real runtime; needs CuPy and a GPU."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from realkernels._harness.host_launcher import HostLauncher
from realkernels._harness.launcher import A, B, Launcher
from realkernels.tma_warp_specialized.launch import build as build_kernel_launcher
from realkernels.two_level import TECHNIQUE, Params
from realkernels.two_level.model import kernel_params


def build(params: Params) -> HostLauncher:
    """The launcher of one configuration. Checks the kernel's own result first."""
    return HostLauncher(TECHNIQUE, params, lambda program: {_kernel_name(program): _bind(params)})


def _kernel_name(program) -> str:
    return next(op.kernel.name for thread in program.threads for op in thread.ops if hasattr(op, "kernel"))


def _bind(params: Params) -> Callable[[int], Callable[[], object]]:
    import cupy

    launcher: Launcher = build_kernel_launcher(kernel_params(params)).prepare()
    launcher.check()
    kernel, grid, block = launcher.kernel, params.grid, launcher.plan.threads()
    out = cupy.zeros(params.grid * params.consumer_warps, dtype=cupy.float32)
    tiles, shared = np.int32(params.tiles_per_cta), launcher.shared_bytes
    function = kernel.prepared(shared)

    def bind(pointer: int) -> Callable[[], object]:
        args = (np.uint64(pointer), out, tiles, A, B)
        return lambda: function((grid,), (block,), args, shared_mem=shared)

    return bind
