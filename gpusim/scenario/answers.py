"""The prediction of a scenario with everything shown beside it, as one plain object."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gpusim.errors import GpusimError
from gpusim.scenario.prediction import predict, serial_baseline
from gpusim.scenario.scenario import Scenario
from gpusim.timeline import Timeline
from gpusim.timeline.bottleneck import bottleneck
from gpusim.timeline.metrics import summary

__all__ = ["Answer", "answer"]


@dataclass(frozen=True)
class Answer:
    """A scenario, its predicted timeline, and how long the same work takes without overlap.

    ``serial_s`` is None where there is no such baseline (`serial_baseline`), or where it cannot run: a pipeline that
    needs two stages waits for ever with one.
    """

    scenario: Scenario
    timeline: Timeline
    serial_s: float | None

    @property
    def speedup_vs_serial(self) -> float | None:
        """Duration without overlap over duration."""
        return None if self.serial_s is None else self.serial_s / self.timeline.total_s

    def predicted(self) -> dict[str, Any]:
        """The numbers of ``gpusim run --json`` under ``predicted``; SI units."""
        meta = self.timeline.meta
        limit = bottleneck(self.timeline)
        return {
            **summary(self.timeline),
            "speedup_vs_serial": self.speedup_vs_serial,
            "bottleneck": None if limit is None else asdict(limit),
            "occupancy": meta.get("occupancy"),
            "extrapolated_s": meta.get("extrapolated_s", 0.0),
            "elided": bool(meta.get("elided")),
            "assumed": list(meta.get("assumed", ())),
        }


def answer(scenario: Scenario, *, exact: bool = False, zoom: bool = False) -> Answer:
    """Predict ``scenario`` and its baseline without overlap; ``zoom`` and what is raised as in `predict`."""
    timeline = predict(scenario, exact=exact, zoom=zoom)
    try:
        baseline = serial_baseline(scenario)
        serial_s = None if baseline is None else predict(baseline, exact=exact, trace=False).total_s
    except GpusimError:
        serial_s = None
    return Answer(scenario, timeline, serial_s)
