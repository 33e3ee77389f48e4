"""Disassembly of a cubin by the toolkit's cuobjdump; `gpusim.program.sass` reads what it prints."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from gpusim.program import sass

__all__ = ["disassemble", "disassembler"]

_USUAL_PLACES = ("/usr/local/cuda/bin/cuobjdump",)


@cache
def disassembler() -> str | None:
    """Path of cuobjdump: $CUOBJDUMP, the search path, the toolkit, or the copy inside Triton's package."""
    named = os.environ.get("CUOBJDUMP")
    for candidate in (named, shutil.which("cuobjdump"), *_USUAL_PLACES, _triton_copy()):
        if candidate and Path(candidate).is_file():
            return candidate
    return None


def disassemble(cubin: Path, name: str) -> str | None:
    """SASS text of one function, or None without a disassembler."""
    tool = disassembler()
    if tool is None:
        return None
    run = subprocess.run([tool, "-sass", str(cubin)], capture_output=True, text=True, timeout=60, check=False)
    if run.returncode:
        return None
    return sass.functions(run.stdout).get(name)


def _triton_copy() -> str | None:
    # Found by file name and not by import: importing Triton would load a driver.
    spec = importlib.util.find_spec("triton")
    if spec is None or not spec.submodule_search_locations:
        return None
    return str(Path(next(iter(spec.submodule_search_locations))) / "backends/nvidia/bin/cuobjdump")
