"""The ``gpusim`` command."""

from gpusim.cli.entry import main

__all__ = ["main"]
