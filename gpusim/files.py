"""Files that are replaced as a whole, and tables whose changes can be read."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["json_by_rows", "write_atomically"]


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part; text as UTF-8.

    Several threads and processes may write the same file at the same time.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
            Path(scratch).chmod(0o644)  # it is made for its owner alone
            Path(scratch).replace(path)
        except BaseException:
            Path(scratch).unlink()
            raise
    except OSError as error:
        # It is about the file that was asked for, not about the scratch file beside it.
        raise type(error)(error.errno, error.strerror, str(path)) from None


def json_by_rows(head: Mapping[str, Any], rows: Iterable[Any]) -> str:
    """JSON of ``head`` and, under ``rows``, one row a line, so that what was measured again is a change of one line.

    Raises `ValueError` for numbers that JSON does not have, such as NaN.
    """
    before = json.dumps({**head, "rows": None}, indent=1, allow_nan=False).removesuffix("null\n}")
    lines = ",\n".join("  " + json.dumps(row, allow_nan=False) for row in rows)
    return f"{before}[\n{lines}\n ]\n}}\n"
