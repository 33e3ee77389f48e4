"""The command line as a user runs it; and hardware.

Missing hardware skips a test with its reason; GPUSIM_REQUIRE=gpu,browser makes it fail instead.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from importlib.util import find_spec

import pytest

from gpusim.cli import main

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def _gpu_missing() -> str:
    if find_spec("cupy") is None:
        return "CuPy is not installed"
    import cupy

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no usable GPU: {error}"
    return "" if count else "no GPU"


def _browser_missing() -> str:
    if find_spec("playwright") is None:
        return "playwright is not installed"
    return "" if any(map(shutil.which, CHROMIUM_NAMES)) else f"none of {', '.join(CHROMIUM_NAMES)} is on the PATH"


MISSING: dict[str, Callable[[], str]] = {"gpu": _gpu_missing, "browser": _browser_missing}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what this machine cannot run, unless the environment requires it."""
    required = {name.strip() for name in os.environ.get("GPUSIM_REQUIRE", "").split(",")}
    for marker, missing in MISSING.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        if not marked or marker in required:
            continue
        reason = missing()
        if reason:
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def gpusim(capsys) -> Callable[..., tuple[int, str, str]]:
    """``gpusim("run", path)`` → exit code, stdout, stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return call
