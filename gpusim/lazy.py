"""Packages that load their public names on first use (PEP 562).

Measuring on a GPU machine needs numpy and CuPy alone, and a command should not pay for what it
does not use; so packages with heavy parts list where each name lives instead of importing it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_exports"]


def lazy_exports(package: str, home: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of ``package``, whose names live in the modules of ``home``."""

    def get(name: str) -> Any:
        if name in home:
            return getattr(import_module(home[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def listing() -> list[str]:
        return sorted(home)

    return get, listing
