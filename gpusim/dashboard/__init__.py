"""The dashboard: predicted beside measured timelines in a browser, offline."""

from gpusim.lazy import lazy_exports

_HOME = {
    "PORT": "gpusim.dashboard.ports",
    "build_app": "gpusim.dashboard.server",
    "serve": "gpusim.dashboard.server",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_exports(__name__, _HOME)
