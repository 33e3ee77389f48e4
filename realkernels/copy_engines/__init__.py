"""Copies both ways, on the device, and a kernel, all at once: as many at a time as there are engines.

One engine takes the directions in turns, two carry one each, and a third is there for copies between devices.
Both directions at once cost each other some of the link.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param
from realkernels._parts.host_programs import check_parts


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    h2d_bytes: int = param(64 << 20, "bytes copied in", ge=0, le=4 << 30, unit="bytes")
    d2h_bytes: int = param(64 << 20, "bytes copied out", ge=0, le=4 << 30, unit="bytes")
    d2d_bytes: int = param(0, "bytes copied on the device", ge=0, le=4 << 30, unit="bytes")
    kernel_s: float = param(2e-3, "a kernel beside them; 0: none", ge=0.0, le=10.0, unit="s")
    copies: int = param(4, "copies each amount is cut into", Kind.COPIES, ge=1, le=4096)
    streams_per_direction: int = param(
        1, "streams the copies of one direction are dealt to", Kind.STREAMS_EACH_WAY, ge=1, le=16
    )
    issue: str = param(
        "grouped",
        "all of one direction first, or one of each in turn",
        choices=("grouped", "alternate"),
        lever=Lever("order of calls"),
    )

    def __post_init__(self) -> None:
        for name in ("h2d_bytes", "d2h_bytes", "d2d_bytes"):
            if total := getattr(self, name):
                check_parts(name, total, self.copies)


TECHNIQUE = Technique(
    name="copy_engines",
    title="Copy engines",
    params=Params,
    model="realkernels.copy_engines.model:build",
    launcher="realkernels.copy_engines.launch:build",
    folder=Path(__file__).parent,
    summary="Both directions and a kernel overlap on two engines; more streams per direction add nothing.",
)
