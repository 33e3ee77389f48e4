"""Real CUDA kernels, one folder per pipeline technique, and the harness that measures them.

A folder with a ``kernel.cu`` and a ``launch.py`` is a technique; nothing else has to name it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpusim.scenario.technique import Technique

__all__ = ["find_techniques"]


def find_techniques() -> list[Technique]:
    """The ``TECHNIQUE`` of every folder, in name order."""
    folders = sorted(path.parent for path in Path(__file__).parent.glob("*/launch.py"))
    return [
        import_module(f"realkernels.{folder.name}").TECHNIQUE for folder in folders if (folder / "kernel.cu").exists()
    ]
