"""``dashboard``: serve it on the loopback interface."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from gpusim.errors import GpusimError

__all__ = ["dashboard"]


def dashboard(scenarios: Path, port: int, browser: bool) -> None:
    """Serve until interrupted. Raises GpusimError where the folder does not exist."""
    if not scenarios.is_dir():
        raise GpusimError(f"{scenarios}: no such folder; give the one with the scenario files")
    import_module("gpusim.dashboard.server").serve(scenarios, port=port, browser=browser)
