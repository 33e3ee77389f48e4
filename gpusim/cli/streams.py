"""Where the commands print to, made fit for what they print; imported by each of them, so nothing large."""

from __future__ import annotations

import io
import sys

__all__ = ["let_print_anything"]


def let_print_anything() -> None:
    """Dashes and arrows to where they have no code, as in a file of Windows, and output where stdout is closed."""
    if sys.stdout is None:
        sys.stdout = io.StringIO()
    if sys.stderr is None:
        sys.stderr = io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
