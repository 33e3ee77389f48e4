"""A produces, B processes, D consumes, C runs freely: ordered by events, by stream syncs or by device syncs.

An event makes one stream wait on the device and nobody else. A stream synchronisation makes the host wait, so
what it would have enqueued next comes late; a device synchronisation waits for the free work too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Lever, Technique, param


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    ordering: str = param(
        "event",
        "what makes B wait for A and D for B",
        choices=("event", "event_sync", "stream_sync", "device_sync"),
        lever=Lever("ordering"),
    )
    rounds: int = param(6, "how often A, B, C, D are done", ge=1, le=512)
    a_s: float = param(100e-6, "kernel of A", ge=0.0, le=1.0, unit="s")
    b_s: float = param(150e-6, "kernel of B", ge=0.0, le=1.0, unit="s")
    c_s: float = param(400e-6, "kernel of C, which nobody waits for", ge=0.0, le=1.0, unit="s")
    d_s: float = param(100e-6, "kernel of D", ge=0.0, le=1.0, unit="s")
    bytes: int = param(1 << 20, "copied in before A and out after D", ge=4096, le=1 << 30, unit="bytes")


TECHNIQUE = Technique(
    name="event_graph",
    title="Events against synchronisation",
    params=Params,
    model="realkernels.event_graph.model:build",
    launcher="realkernels.event_graph.launch:build",
    folder=Path(__file__).parent,
    summary="Events order streams without stopping the host or unrelated work; syncs in the loop serialise it.",
)
