"""The stream pipeline with ordinary memory: the driver copies through a pinned buffer of its own.

The host does that staging inside the call, so an "asynchronous" copy holds it, and what it would have
enqueued next comes late. ``calls`` chooses between cudaMemcpyAsync and cudaMemcpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param
from realkernels._parts.host_programs import check_parts


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    bytes: int = param(64 << 20, "bytes copied each way", ge=4096, le=4 << 30, unit="bytes")
    chunks: int = param(8, "parts the data is cut into", Kind.CHUNKS, ge=1, le=4096)
    streams: int = param(2, "streams the chunks are dealt to", Kind.STREAMS, ge=1, le=64)
    kernel_s: float = param(4e-3, "kernel time for all data; a chunk takes its share", ge=0.0, le=10.0, unit="s")
    memory: str = param(
        "pageable",
        "host memory",
        choices=("pinned", "pageable"),
        lever=Lever("host memory", plain={"pageable": "ordinary memory is"}),
    )
    calls: str = param("async", "cudaMemcpyAsync, or cudaMemcpy", choices=("async", "sync"), lever=Lever("calls"))
    directions: str = param("both", "which way is copied", choices=("both", "h2d", "d2h"))

    def __post_init__(self) -> None:
        check_parts("bytes", self.bytes, self.chunks)


TECHNIQUE = Technique(
    name="pageable_copies",
    title="Pageable copies",
    params=Params,
    model="realkernels.pageable_copies.model:build",
    launcher="realkernels.pageable_copies.launch:build",
    folder=Path(__file__).parent,
    summary="Saves page-locking memory that is copied once; it costs most of the link's rate and of the overlap.",
)
