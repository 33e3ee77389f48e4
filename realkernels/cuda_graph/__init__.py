"""A chain of short kernels (and copies) enqueued call by call, or captured once and replayed.

The graph costs the host one call per replay instead of one per node; the device still needs its time from
node to node. It helps while the host is the slower of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Lever, Technique, param


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    mode: str = param(
        "graph",
        "calls one by one, or a captured graph",
        choices=("stream", "graph"),
        lever=Lever("mode", plain={"stream": "calls one by one are"}),
    )
    nodes: int = param(20, "kernels in the chain", ge=1, le=2000)
    replays: int = param(10, "how often the chain is done", ge=1, le=1000)
    kernel_s: float = param(3e-6, "duration of each kernel", ge=0.0, le=1.0, unit="s")
    branches: int = param(1, "parallel chains between a fork and a join", ge=1, le=8)
    bytes: int = param(0, "copied in before the chain and out after it", ge=0, le=64 << 20, unit="bytes")


TECHNIQUE = Technique(
    name="cuda_graph",
    title="CUDA graph",
    params=Params,
    model="realkernels.cuda_graph.model:build",
    launcher="realkernels.cuda_graph.launch:build",
    folder=Path(__file__).parent,
    summary="Helps chains of kernels shorter than a launch call; long kernels hide their launches anyway.",
)
