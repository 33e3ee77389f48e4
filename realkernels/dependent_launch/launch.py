"""Runs the program of `model.py` on the real runtime; needs CuPy and a GPU."""

from __future__ import annotations

from realkernels._harness.host_launcher import HostLauncher
from realkernels.dependent_launch import TECHNIQUE, Params


def build(params: Params) -> HostLauncher:
    """The launcher of one configuration."""
    return HostLauncher(TECHNIQUE, params)
