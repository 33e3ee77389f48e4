"""Runs the command line: what a user can put right is one message on stderr and exit code 2, never a traceback."""

from __future__ import annotations

import os
import sys

from gpusim.cli.app import app
from gpusim.cli.streams import let_print_anything
from gpusim.errors import GpusimError

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    let_print_anything()
    try:
        app(args=arguments, prog_name="gpusim", standalone_mode=True)
    except GpusimError as error:
        _fail(str(error))
    except BrokenPipeError:
        # The reader (head, less) has gone; stdout must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except OSError as error:
        _fail(f"{error.filename or 'gpusim'}: {error.strerror or error}")


def _fail(message: str) -> None:
    from gpusim.cli.output import print_error

    print_error(message)
    raise SystemExit(2)
