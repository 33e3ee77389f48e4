"""The ``gpusim`` command."""

from gpusim.cli.app import main

__all__ = ["main"]
