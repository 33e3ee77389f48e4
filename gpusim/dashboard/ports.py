"""Where the dashboard is served, for whoever asks without loading Dash."""

from __future__ import annotations

__all__ = ["HOST", "LAST_PORT", "PORT"]

HOST = "127.0.0.1"
PORT = 8050
LAST_PORT = 65535  # ports are of 16 bits
