"""A scenario of the page as a file of its own; nothing that is there is overwritten."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Container
from pathlib import Path

from gpusim.dashboard.page.case import Asked, CaseError
from gpusim.files import write_atomically

__all__ = ["FILE_NAME", "save_as"]

FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
_FOR_EDITORS = "# yaml-language-server:"
"""How a line begins that tells an editor the schema; it stays the first."""
_ONE_BY_ONE = threading.Lock()


def save_as(folder: Path, name: str, taken: Container[str], asked: Asked, text: str) -> None:
    """Write ``text`` to ``name``.yaml in the folder. Raises CaseError, also where there is such a file already.

    ``taken``: what other files are called without their ending.
    """
    if not FILE_NAME.fullmatch(name):
        raise CaseError(f"{name!r} is no name for a file: letters, digits, '_', '-' and '.', at most 80")
    stem = name.removesuffix(".yaml")
    path = folder / f"{stem}.yaml"
    try:
        with _ONE_BY_ONE:
            # What is called the same and ends otherwise would be shown in its place.
            if path.exists() or stem in taken:
                raise CaseError(f"{path.name} is there already; choose another name")
            write_atomically(path, _with_origin(text, asked))
    except OSError as error:
        raise CaseError(f"{path} cannot be written: {error.strerror}") from error


def _with_origin(text: str, asked: Asked) -> str:
    """``text`` with a comment that says what it was made from."""
    made_of = ", ".join([*(["its text edited"] if asked.text is not None else []), *map(_on_one_line, asked.changes)])
    origin = f"# Made from {_on_one_line(asked.name)}{f' with {made_of}' if made_of else ''}.\n"
    first, found, rest = text.partition("\n")
    return f"{first}\n{origin}{rest}" if found and first.startswith(_FOR_EDITORS) else origin + text


def _on_one_line(text: str) -> str:
    """As it is, if that can stand in a comment."""
    return text if text.isprintable() else json.dumps(text)
