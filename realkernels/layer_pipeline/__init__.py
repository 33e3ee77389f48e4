"""A network whose layers are dealt to streams: batch N+1 enters as batch N moves on to the next stage.

Each stream has a run of layers, a stage, and an event behind its last layer lets the next stage go on. Stages run
beside each other as long as their kernels leave room for one another. What a layer allocates must not stop the
host: it enqueues whole batches ahead of the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param

ALLOCATIONS = ("none", "malloc", "async")


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    layers: int = param(8, "layers of the network", ge=1, le=256)
    streams: int = param(
        4, "stages they are dealt to, each a stream", Kind.STREAMS, ge=1, le=32, lever=Lever("streams")
    )
    batches: int = param(16, "batches that go through", Kind.BATCHES, ge=1, le=1024)
    kernel_s: float = param(100e-6, "kernel of a layer, on average", Kind.SHARE, ge=0.0, le=1.0, unit="s")
    imbalance: float = param(
        0.0, "by what part of it the first layer takes longer and the last one less; linear between", ge=0.0, le=1.0
    )
    blocks: int = param(64, "blocks of 1024 threads of each kernel; 264 fill the device", ge=1, le=264)
    bytes: int = param(
        1 << 20, "a batch: copied in and out", Kind.SHARE, ge=4096, le=1 << 28, unit="bytes", multiple_of=4096
    )
    allocation: str = param(
        "none",
        "a batch's buffer and a layer's workspace: there beforehand, from cudaMalloc, or from a pool",
        choices=ALLOCATIONS,
        lever=Lever("allocation"),
    )
    workspace_bytes: int = param(
        4 << 20, "what a layer allocates before its kernel and frees behind it; 0: nothing", ge=0, le=1 << 28,
        unit="bytes",
    )  # fmt: skip

    def __post_init__(self) -> None:
        if self.streams > self.layers:
            raise ValueError(f"{self.layers} layers cannot be dealt to {self.streams} streams: use {self.layers}")


TECHNIQUE = Technique(
    name="layer_pipeline",
    title="Layers dealt to streams",
    params=Params,
    model="realkernels.layer_pipeline.model:build",
    launcher="realkernels.layer_pipeline.launch:build",
    folder=Path(__file__).parent,
    summary="Helps when a kernel leaves most of the device free; cudaFree in the loop ends it, a pool does not.",
)
