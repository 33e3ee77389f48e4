"""Predict, measure and show when everything happens on a GPU pipeline.

The names here are the whole Python interface for scenarios; they load on first use, so
that ``import gpusim`` costs nothing.
"""

from gpusim.lazy import lazy_exports
from gpusim.version import __version__

_HOME = {
    "advise": "gpusim.scenario",
    "answer": "gpusim.scenario",
    "compare": "gpusim.validation",
    "from_data": "gpusim.scenario",
    "load": "gpusim.scenario",
    "loads": "gpusim.scenario",
    "predict": "gpusim.scenario",
    "sweep": "gpusim.scenario",
    "techniques": "gpusim.scenario",
    "with_overrides": "gpusim.scenario",
}

__all__ = list(_HOME)
__all__ += ["__version__"]

__getattr__, __dir__ = lazy_exports(__name__, _HOME)
