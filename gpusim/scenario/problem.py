"""What the checks of a program yield that pydantic cannot make."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Problem"]


class Problem(NamedTuple):
    """A place below ``kernel`` or ``host``, what is wrong there, what is allowed, and the nearest name."""

    path: tuple[str | int, ...]
    text: str
    allowed: str = ""
    suggestion: str | None = None
