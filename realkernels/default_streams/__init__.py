"""What one operation on a default stream does to work on others.

The legacy default stream waits for all blocking streams and they wait for it: one stray kernel there puts
everything in a row. Per-thread default streams and explicit streams do not do that to each other, and
non-blocking streams ignore the legacy stream altogether.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param

KINDS = ("legacy", "per_thread", "blocking", "non_blocking")


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    workers: str = param(
        "blocking", "kind of the streams that do the work", choices=KINDS, lever=Lever("kind of streams")
    )
    stray: str = param("legacy", "kind of the stream of the stray kernels", choices=("none", *KINDS))
    streams: int = param(
        4, "working streams (host threads, if they are per-thread default streams)", Kind.STREAMS, ge=1, le=16
    )
    tasks: int = param(4, "kernels on each of them", ge=1, le=256)
    kernel_s: float = param(200e-6, "duration of a kernel", ge=0.0, le=1.0, unit="s")
    stray_s: float = param(50e-6, "duration of a stray kernel", ge=0.0, le=1.0, unit="s")
    stray_every: int = param(1, "a stray kernel after each so many rounds", ge=1, le=256)


TECHNIQUE = Technique(
    name="default_streams",
    title="Default streams",
    params=Params,
    model="realkernels.default_streams.model:build",
    launcher="realkernels.default_streams.launch:build",
    folder=Path(__file__).parent,
    summary="Non-blocking or per-thread streams keep one stray call on the default stream from serialising all others.",
)
