"""The dashboard: predicted beside measured timelines in a browser, offline."""

from gpusim.dashboard.server import PORT, build_app, serve

__all__ = ["PORT", "build_app", "serve"]
