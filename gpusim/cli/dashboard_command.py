"""``dashboard``: serve it on the loopback interface."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

__all__ = ["dashboard"]


def dashboard(scenarios: Path, port: int, *, browser: bool) -> None:
    """Serve until interrupted. Raises GpusimError where the folder does not exist or the port is taken."""
    import_module("gpusim.dashboard.server").serve(scenarios, port=port, browser=browser)
