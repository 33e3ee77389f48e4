"""Which configurations of a host program to measure, the same on every run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from realkernels import find_techniques
from realkernels._harness.design import design_of

__all__ = ["HostDesign", "host_designs"]


@dataclass(frozen=True)
class HostDesign:
    """The ``DESIGN`` of a technique whose program is the host's.

    ``totals`` makes the parameter sets that are timed without tracing; ``traced``: those whose timelines are recorded.
    """

    totals: Callable[[], Iterable[Any]]
    traced: tuple[Any, ...]

    def points(self) -> list[Any]:
        """The parameter sets to time, without repetitions."""
        return list(dict.fromkeys(self.totals()))


def host_designs() -> dict[str, HostDesign]:
    """By technique, in name order."""
    found = {technique.name: design_of(technique) for technique in find_techniques()}
    return {name: design for name, design in found.items() if isinstance(design, HostDesign)}
