"""The same calls from a small C++ program (host_cost.cu), built with nvcc on the spot."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from realkernels.microbench.bench import HERE
from realkernels.microbench.host_lab import Lab

NOTES = {"call": "see host_cost.cu; `bytes` is the size, the nodes of a graph, the threads or the kernel's nanoseconds"}
_PLACES = ("/usr/local/cuda/bin/nvcc",)
LIMIT_S = 60.0


def nvcc() -> str | None:
    return shutil.which("nvcc") or next((place for place in _PLACES if Path(place).is_file()), None)


def build(source: str, folder: Path) -> tuple[Path | None, str]:
    """(the program, "") or (None, why there is none)."""
    compiler = nvcc()
    if compiler is None:
        return None, "no nvcc"
    target = folder / Path(source).stem
    command = [compiler, "-O2", "-std=c++17", "-arch=native", "-o", str(target), str(HERE / source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return (target, "") if done.returncode == 0 else (None, done.stderr[-2000:])


def run_program(source: str) -> Iterator[dict]:
    """The rows that a program of this folder prints, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        program, reason = build(source, Path(folder))
        if program is None:
            yield {"skipped": reason}
            return
        done = subprocess.run([str(program)], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    for line in done.stdout.splitlines():
        yield json.loads(line)
    if done.returncode:
        yield {"failed": done.stderr[-2000:]}


def _program(_lab: Lab) -> Iterator[dict]:
    yield from run_program("host_cost.cu")


SECTIONS = (_program,)
