"""``doctor``: what this machine has, and how to get what it lacks."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from gpusim.cli.output import print_json, print_table
from gpusim.errors import GpusimError

__all__ = ["checks", "doctor", "gpu_names"]

MEASURING = "measure, calibrate"
NO_GPU = "use a machine with an NVIDIA GPU; recordings of an H200 ship with the project"
MARKS = {True: "ok", False: "missing"}


@dataclass(frozen=True)
class Check:
    """One thing: whether it is there, what was found, and otherwise what to do."""

    name: str
    ok: bool
    found: str
    fix: str = ""
    needed_for: str = "everything"


def doctor(*, json: bool) -> None:
    """Print all checks. What is missing is no error: nothing but measuring needs a GPU."""
    found = checks()
    if json:
        print_json({"checks": found})
        return
    rows = [(c.name, MARKS[c.ok], c.found, c.needed_for, "" if c.ok else c.fix) for c in found]
    print_table("", ("", "", "found", "needed for", "what to do"), rows)


def checks() -> list[Check]:
    """All checks, in the order in which they build on each other."""
    gpus, driver = gpu_names()
    return [
        Check("python", sys.version_info >= (3, 11), platform.python_version(), "install Python 3.11 or newer"),
        _techniques(),
        _recordings(),
        Check("GPU", bool(gpus), ", ".join(gpus) or "none", NO_GPU, MEASURING),
        Check("driver", bool(driver), driver or "none", "install the NVIDIA driver; nvidia-smi must work", MEASURING),
        _package(
            "cupy", ("cupy-cuda13x", "cupy-cuda12x"), "pip install 'gpusim[gpu-cuda13]', or gpu-cuda12", MEASURING
        ),
        _package("cupti", ("cupti-python",), "pip install 'gpusim[cupti]'; CUDA events serve without it", "streams"),
        _program(
            "cuobjdump",
            "CUOBJDUMP",
            "pip install nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm, or the CUDA toolkit",
            "count",
        ),
        _package("dask", ("distributed",), "pip install 'gpusim[dask]'", "sweep --dask", module="distributed"),
        _package("perfetto", ("perfetto",), "pip install 'gpusim[perfetto]'", "export to .pftrace"),
    ]


def gpu_names() -> tuple[list[str], str]:
    """Names of the attached GPUs and the driver's version, empty without a working nvidia-smi."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return [], ""
    try:
        answer = subprocess.run(
            [tool, "--query-gpu=name,driver_version", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return [], ""
    rows = [line.split(", ") for line in answer.stdout.splitlines() if ", " in line]
    return [row[0] for row in rows], rows[0][1] if rows else ""


def _program(name: str, variable: str, fix: str, needed_for: str) -> Check:
    """A program on the path, or the one that the environment's ``variable`` names."""
    found = shutil.which(os.environ.get(variable) or name)
    return Check(name, found is not None, found or "not on the path", fix, needed_for)


def _package(name: str, distributions: tuple[str, ...], fix: str, needed_for: str, module: str | None = None) -> Check:
    if find_spec(module or name) is None:
        return Check(name, False, "not installed", fix, needed_for)
    for distribution in distributions:
        try:
            return Check(name, True, version(distribution), "", needed_for)
        except PackageNotFoundError:
            continue
    return Check(name, True, "installed", "", needed_for)


def _techniques() -> Check:
    from gpusim.scenario.technique import techniques

    names = list(techniques())
    return Check("techniques", bool(names), ", ".join(names) or "none", "install the project: pip install -e .")


def _recordings() -> Check:
    from gpusim.validation import measurements

    try:
        found = measurements()
    except GpusimError as error:
        return Check(
            "recordings",
            False,
            str(error),
            "restore the file, or record it again with gpusim measure",
            "compare, report",
        )
    stale = sum(bool(entry.stale) for entry in found)
    text = f"{len(found)}" + (f", {stale} stale" if stale else "")
    return Check(
        "recordings", bool(found) and not stale, text, "gpusim measure on a machine with a GPU", "compare, report"
    )
