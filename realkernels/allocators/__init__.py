"""Device memory taken and given back inside a pipeline, by five kinds of allocator.

cudaMalloc and cudaFree go to the OS, and cudaFree waits for the device. A stream-ordered pool hands memory
on in the order of the stream; with release threshold 0 it gives everything back at each synchronisation and
asks again. A caching allocator keeps blocks in the host's language and calls cudaMalloc when it runs dry.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param

MODES = ("preallocated", "cuda_malloc", "pool_release", "pool_keep", "caching")


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    mode: str = param("pool_keep", "allocator", choices=MODES, lever=Lever("mode"))
    batches: int = param(16, "batches", Kind.BATCHES, ge=1, le=1024)
    streams: int = param(2, "streams the batches are dealt to", Kind.STREAMS, ge=1, le=16)
    bytes: int = param(
        16 << 20, "bytes of a batch, or of the last one if sizes grow", Kind.SHARE, ge=65536, le=1 << 30, unit="bytes"
    )
    kernel_s: float = param(300e-6, "kernel time of a batch", Kind.SHARE, ge=0.0, le=1.0, unit="s")
    sizes: str = param(
        "constant",
        "batch sizes; growing: a cache copied into a larger one",
        choices=("constant", "variable", "growing"),
    )
    sync_every: int = param(0, "synchronise the batch's stream after each so many batches; 0: never", ge=0, le=1024)


TECHNIQUE = Technique(
    name="allocators",
    title="Allocation inside the pipeline",
    params=Params,
    model="realkernels.allocators.model:build",
    launcher="realkernels.allocators.launch:build",
    folder=Path(__file__).parent,
    summary="A pool that keeps its memory costs next to nothing; cudaMalloc and cudaFree in the loop stop everything.",
)
