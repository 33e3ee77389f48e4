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
    except OSError as error:
        raise _about(path, error) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        Path(scratch).chmod(0o644)  # it is made for its owner alone
        Path(scratch).replace(path)
    except OSError as error:
        Path(scratch).unlink()
        raise _about(path, error) from None
    except BaseException:
        Path(scratch).unlink()
        raise


def _about(path: Path, error: OSError) -> OSError:
    """The same error, of the file that was to be written and not of the scratch file beside it."""
    return type(error)(error.errno, error.strerror, str(path))
