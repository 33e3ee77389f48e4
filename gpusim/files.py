"""Files that are replaced as a whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_atomically"]


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
