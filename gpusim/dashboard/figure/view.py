"""What the user looks at: a frozen description that a figure is a pure function of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["MODES", "Selection", "View"]

MODES = ("stacked", "overlay", "difference")


@dataclass(frozen=True, slots=True)
class Selection:
    """A clicked interval: the side it is on and its index there."""

    side: str
    index: int


@dataclass(frozen=True)
class View:
    """The state of the picture.

    ``window_us`` is the visible part of the time axis (None: everything). ``align`` is
    "kernel" (time zero of both sides), "event" (first event of ``align_kind`` and, if
    given, ``align_tile``); ``offset_us`` moves the measured side further. ``width`` and
    ``height`` are the pixels available to the figure; ``room`` is the height it would have
    without the details strip, and decides how many groups are open at first.
    """

    mode: str = "stacked"
    window_us: tuple[float, float] | None = None
    align: str = "kernel"
    align_kind: str = "compute"
    align_tile: int | None = None
    offset_us: float = 0.0
    toggled: Mapping[str, bool] = field(default_factory=dict)
    pinned: tuple[str, ...] = ()
    pattern: str = ""
    hidden: frozenset[int] = frozenset()
    critical: bool = False
    selected: Selection | None = None
    width: int = 1180
    height: int = 560
    room: int = 560
    theme: str = "light"
