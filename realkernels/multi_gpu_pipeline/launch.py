"""Runs the program of `model.py` on the real runtime; needs CuPy and as many GPUs as it names."""

from __future__ import annotations

from realkernels._harness.host_launcher import HostLauncher
from realkernels.multi_gpu_pipeline import TECHNIQUE, Params


def build(params: Params) -> HostLauncher:
    """The launcher of one configuration."""
    return HostLauncher(TECHNIQUE, params)
