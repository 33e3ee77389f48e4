"""Small kernels on many streams: side by side as long as threads, registers, shared memory and grids allow.

Blocks of a later kernel go where earlier ones leave room. Kernels that each want most of an SM take turns
although SMs look half empty, the 129th grid waits for one to end, and a high priority goes first only when
blocks end.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Technique, param
from realkernels._parts.hopper import MAX_PER_CTA, SMS


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    kernels: int = param(8, "kernels", ge=1, le=1024)
    streams: int = param(8, "streams they are dealt to", Kind.STREAMS, ge=1, le=512)
    blocks: int = param(SMS, "blocks of each", ge=1, le=100_000)
    threads: int = param(256, "threads per block", ge=32, le=1024, multiple_of=32)
    registers: int = param(
        32, "registers per thread; beyond 32 only with up to 256 threads", ge=24, le=248, multiple_of=8
    )
    shared_bytes: int = param(0, "shared memory per block", ge=0, le=MAX_PER_CTA, unit="bytes")
    block_s: float = param(200e-6, "duration of each block", ge=0.0, le=1.0, unit="s")
    urgent: str = param("none", "a short last kernel after the others have begun", choices=("none", "equal", "high"))

    def __post_init__(self) -> None:
        if self.registers > 32 and self.threads > 256:
            raise ValueError(f"{self.registers} registers need blocks of at most 256 threads, not {self.threads}")


TECHNIQUE = Technique(
    name="concurrent_kernels",
    title="Concurrent kernels",
    params=Params,
    model="realkernels.concurrent_kernels.model:build",
    launcher="realkernels.concurrent_kernels.launch:build",
    folder=Path(__file__).parent,
    summary="Helps kernels too small to fill the device; kernels that fill an SM take turns anyway.",
)
