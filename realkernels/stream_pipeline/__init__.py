"""Data in chunks, dealt round-robin over streams; copy in, compute, copy out.

The copy engines and the SMs work on three different chunks at once. A chunk should be large enough
that its launch costs are small and small enough that filling and draining the pipeline are.
With one stream, or one chunk, everything takes turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param
from realkernels._parts.host_programs import check_parts


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    bytes: int = param(256 << 20, "bytes copied in, and out again", ge=4096, le=4 << 30, unit="bytes")
    chunks: int = param(16, "parts the data is cut into", Kind.CHUNKS, ge=1, le=4096)
    streams: int = param(3, "streams the chunks are dealt to", Kind.STREAMS, ge=1, le=64)
    kernel_s: float = param(5e-3, "kernel time for all data; a chunk takes its share", ge=0.0, le=10.0, unit="s")
    memory: str = param(
        "pinned",
        "host memory",
        choices=("pinned", "pageable"),
        lever=Lever("host memory", plain={"pageable": "ordinary memory is"}),
    )
    order: str = param(
        "depth",
        "all calls of a chunk together, or of a round of streams",
        choices=("depth", "breadth"),
        lever=Lever("order of calls"),
    )
    allocation: str = param(
        "none",
        "device memory beforehand, or per chunk from a pool",
        choices=("none", "pool"),
        lever=Lever("allocation"),
    )
    footprint: str = param("full", "a kernel fills the device or a small part of it", choices=("full", "small"))

    def __post_init__(self) -> None:
        check_parts("bytes", self.bytes, self.chunks)


TECHNIQUE = Technique(
    name="stream_pipeline",
    title="Stream pipeline",
    params=Params,
    model="realkernels.stream_pipeline.model:build",
    launcher="realkernels.stream_pipeline.launch:build",
    folder=Path(__file__).parent,
    summary="Helps when copies and kernels take similar time and chunks are megabytes; not with pageable memory.",
)
