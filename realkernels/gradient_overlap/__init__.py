"""A backward pass in buckets: as soon as the gradients of one are ready they are sent, beside the remaining backward.

An event behind each bucket's kernel lets a communication stream go on, whose kernel holds a few blocks for a known
time, as an all-reduce does whose speed is that of a link. It hides as long as it finds room. Where backward kernels
fill the device it comes in when blocks end: with a high priority at the next such moment, with a normal one only
when all blocks of the kernel before it have been placed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Lever, Technique, param
from realkernels._parts.hopper import SMS
from realkernels._parts.host_programs import check_parts


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    overlap: str = param(
        "overlapped",
        "gradients are sent from a stream of their own as they are ready or behind the whole pass, or in its stream",
        choices=("overlapped", "after_backward", "same_stream"),
        lever=Lever("overlap"),
    )
    priority: str = param("high", "of the communication stream", choices=("high", "normal"), lever=Lever("priority"))
    buckets: int = param(8, "parts of the gradients", ge=1, le=256, lever=Lever("buckets"))
    steps: int = param(2, "backward passes; the next waits until all gradients are sent", ge=1, le=256)
    backward_s: float = param(1.6e-3, "the backward pass alone; each bucket has its share", ge=0.0, le=1.0, unit="s")
    comm_s: float = param(0.8e-3, "sending all gradients; each bucket has its share", ge=0.0, le=1.0, unit="s")
    blocks: int = param(
        SMS, "blocks of 1024 threads of a bucket's backward kernel; the device holds 264 at once", ge=1, le=8448
    )
    comm_blocks: int = param(16, "blocks of 512 threads of a communication kernel", ge=1, le=264)
    bytes: int = param(8 << 20, "gradients; copied in before and out at the end", ge=4096, le=1 << 30, unit="bytes")

    def __post_init__(self) -> None:
        check_parts("bytes", self.bytes, self.buckets)


TECHNIQUE = Technique(
    name="gradient_overlap",
    title="Gradients sent while others are computed",
    params=Params,
    model="realkernels.gradient_overlap.model:build",
    launcher="realkernels.gradient_overlap.launch:build",
    folder=Path(__file__).parent,
    summary="Hides communication behind the backward pass while that leaves it room; priority matters as blocks end.",
)
