"""A ring of pinned buffers: the host fills one, the device copies it in, a host function gives it back.

With three or four buffers the host, the copy engine and the kernels all have one to work on, however many
batches there are. Without recycling, every batch needs a buffer of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    slots: int = param(3, "pinned buffers in the ring", Kind.BUFFERS, ge=1, le=256)
    batches: int = param(32, "batches that go through it", Kind.BATCHES, ge=1, le=4096)
    streams: int = param(2, "streams the batches are dealt to", Kind.STREAMS, ge=1, le=16)
    bytes: int = param(4 << 20, "bytes of a batch", Kind.SHARE, ge=4096, le=256 << 20, unit="bytes")
    fill_s: float = param(60e-6, "time the host takes to fill a buffer", Kind.SHARE, ge=0.0, le=1.0, unit="s")
    kernel_s: float = param(80e-6, "kernel time of a batch", Kind.SHARE, ge=0.0, le=1.0, unit="s")
    callback_s: float = param(0.0, "time the host function takes", ge=0.0, le=1.0, unit="s")
    recycle: str = param(
        "after_copy",
        "when a buffer is given back",
        choices=("after_copy", "after_kernel"),
        lever=Lever("buffers given back"),
    )


TECHNIQUE = Technique(
    name="host_callback_pool",
    title="Pinned buffers recycled by host functions",
    params=Params,
    model="realkernels.host_callback_pool.model:build",
    launcher="realkernels.host_callback_pool.launch:build",
    folder=Path(__file__).parent,
    summary="Three or four recycled buffers do the work of one per batch, unless batches are as short as a callback.",
)
