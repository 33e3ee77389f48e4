"""A chain of kernels in one stream, each launched so that it may begin while the one ahead runs, or not.

Programmatic dependent launch: a kernel does what needs nothing of the kernel ahead (sets up barriers, loads weights),
then waits for it. The one ahead says when the next may begin, at the latest by ending. What is saved is the time from
one kernel to the next, and what comes before the wait, as far as there is room for it beside the kernel ahead.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Lever, Technique, param


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    launch: str = param(
        "programmatic",
        "whether a kernel may begin while the one ahead runs",
        choices=("plain", "programmatic"),
        lever=Lever("launch", plain={"plain": "ordinary launches are"}),
    )
    trigger: str = param(
        "start",
        "when a block lets the next kernel begin: first of all, behind its wait, after half of its work, at its end",
        choices=("first", "start", "half", "end"),
    )
    mode: str = param("stream", "calls one by one, or a captured graph", choices=("stream", "graph"))
    kernels: int = param(20, "kernels in the chain", ge=1, le=2000)
    prologue_s: float = param(2e-6, "what a block does before it waits for the kernel ahead", ge=0.0, le=1.0, unit="s")
    work_s: float = param(20e-6, "what it does behind that", ge=0.0, le=1.0, unit="s")
    blocks: int = param(132, "blocks of each kernel", ge=1, le=1 << 20)
    threads: int = param(256, "threads of a block", ge=32, le=1024)
    shared_bytes: int = param(0, "shared memory of a block", ge=0, le=227 << 10, unit="bytes")
    bytes: int = param(64 << 10, "that every kernel goes over, copied in before and out behind", ge=4, le=64 << 20,
                       unit="bytes")  # fmt: skip


TECHNIQUE = Technique(
    name="dependent_launch",
    title="Programmatic dependent launch",
    params=Params,
    model="realkernels.dependent_launch.model:build",
    launcher="realkernels.dependent_launch.launch:build",
    folder=Path(__file__).parent,
    summary="Helps chains of kernels of some ten microseconds: 1 us each, and whatever needs nothing of the one ahead.",
)
