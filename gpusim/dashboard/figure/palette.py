"""Categories of intervals, and the colours and the font of all figures: no other module names a colour.

A category is an interval's kind, and for waits its kind and reason. Work has saturated
colours that stay apart under the common forms of colour blindness (a test measures it);
waits are pale tints, so that a timeline reads as work on a quiet ground. What style sheets
colour is in ``assets/``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpusim.timeline import KINDS, REASONS
from gpusim.timeline.vocabulary import KIND_MEANING, REASON_MEANING

__all__ = [
    "CATEGORY_COUNT",
    "CLEAR",
    "FONT",
    "LINES",
    "Ink",
    "categories_of",
    "colour",
    "ink",
    "is_wait",
    "label",
    "meaning",
    "order",
    "text_on",
]

FONT = 'Inter, "Segoe UI", system-ui, -apple-system, "Liberation Sans", Arial, sans-serif'
CLEAR = "rgba(0,0,0,0)"
"""No colour at all."""
LINES = ("#2a6db0", "#eb9d12", "#008a6d", "#b4559a", "#a85f00", "#59b4e6", "#7d2a52", "#8d939c")
"""Colours of lines in one chart, in the order in which they are given out."""

WAIT = KINDS.index("wait")
CATEGORY_COUNT = len(KINDS) + len(REASONS)

_WORK = {
    "compute": ("#2a6db0", "#5b9bd8"),
    "load": ("#008a6d", "#2fb595"),
    "store": ("#b4559a", "#e39bd3"),
    "issue": ("#59b4e6", "#8fd0f5"),
    "copy": ("#eb9d12", "#f2b13d"),
    "transfer": ("#a85f00", "#cf8120"),
    "barrier": ("#8d939c", "#8a909a"),
    "launch": ("#d7ba2e", "#e0c84f"),
    "kernel": ("#3b3f8f", "#7d82d6"),
    "alloc": ("#7d2a52", "#b8638b"),
    "host": ("#3f9b9b", "#62bcbc"),
    "idle": ("#eef0f3", "#2b3038"),
    "product": ("#6f7d1f", "#a8b84e"),
}
_WAIT = {
    "": ("#d3d7dd", "#454c57"),
    "stage_full": ("#dcd3ea", "#52486a"),
    "stage_empty": ("#f6cfc9", "#74453f"),
    "copy_in_flight": ("#f8e2ba", "#6b5730"),
    "issue_slot": ("#cfe6f5", "#34566b"),
    "tensor_core_busy": ("#c5d3e8", "#3a4b68"),
    "barrier": ("#c6cad1", "#565c66"),
    "cta_slot": ("#dfe6d6", "#4a5540"),
    "stream_order": ("#d9dbe9", "#464a63"),
    "event": ("#dccbbb", "#55483a"),
    "copy_engine_busy": ("#f0d8b8", "#6e5532"),
    "host_sync": ("#cfe5e3", "#35575a"),
    "launch": ("#efe9c4", "#625d35"),
    "memory_pool": ("#e5cdd9", "#5f3d4e"),
    "store_drain": ("#ecd3e5", "#634560"),
    "grid_dependency": ("#d6e3cf", "#44583f"),
}
_KIND_LABEL = {"copy": "copy in flight", "alloc": "allocation", "product": "products"}
"""Names of kinds that the page calls otherwise than the vocabulary does."""
_REASON_LABEL = {
    "": "wait",
    "stage_full": "wait: no free stage",
    "stage_empty": "wait: no filled stage",
    "copy_in_flight": "wait: own copy",
    "issue_slot": "wait: issue slot",
    "tensor_core_busy": "wait: tensor core",
    "barrier": "wait: barrier",
    "cta_slot": "wait: CTA slot",
    "stream_order": "wait: stream order",
    "event": "wait: event",
    "copy_engine_busy": "wait: copy engine",
    "host_sync": "wait: host sync",
    "launch": "wait: launch",
    "memory_pool": "wait: slot",
    "store_drain": "wait: stores",
    "grid_dependency": "wait: kernel ahead",
}


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours of everything that is not an interval, for one theme."""

    text: str
    dim: str
    grid: str
    panel: str
    edge: str
    gap: str
    """The hairline between neighbouring bars of one colour."""
    accent: str
    later: tuple[str, ...]
    earlier: tuple[str, ...]
    neutral: str


_LIGHT = Ink(
    text="#1f2630", dim="#6b7480", grid="#e4e7eb", panel="#ffffff", edge="#2f3742", gap="#ffffff", accent="#c2185b",
    later=("#f3c9b4", "#e58c66", "#8a2c0c"),
    earlier=("#bcdcec", "#74b3d6", "#0f4f7f"), neutral="#dfe2e6",
)  # fmt: skip
_DARK = Ink(
    text="#e3e7ec", dim="#98a1ad", grid="#2c323b", panel="#191e25", edge="#d5dbe3", gap="#14181d", accent="#ff6f9f",
    later=("#5c3a2c", "#9c5336", "#ffa177"),
    earlier=("#24455a", "#2f6f96", "#93d2f5"), neutral="#3a414b",
)  # fmt: skip


def categories_of(kind: np.ndarray, reason: np.ndarray) -> np.ndarray:
    """Category ids of intervals: the kind, or for waits one id per reason."""
    return np.where(kind == WAIT, len(KINDS) + reason, kind).astype(np.int16)


def _split(category: int) -> tuple[str, str]:
    if category >= len(KINDS):
        return "wait", REASONS[category - len(KINDS)]
    return KINDS[category], ""


def colour(category: int, theme: str = "light") -> str:
    """Fill colour (#rrggbb) of a category; ``theme`` is "light" or "dark"."""
    kind, reason = _split(category)
    pair = _WAIT[reason] if kind == "wait" else _WORK[kind]
    return pair[theme == "dark"]


def text_on(fill: str) -> str:
    """Colour of text that can be read on ``fill`` (#rrggbb): dark on light, white on dark."""
    red, green, blue = (int(fill[i : i + 2], 16) for i in (1, 3, 5))
    return "#10151c" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def label(category: int) -> str:
    """Short name on legend, hover and cards."""
    kind, reason = _split(category)
    return _REASON_LABEL[reason] if kind == "wait" else _KIND_LABEL.get(kind, kind)


def meaning(category: int) -> str:
    """One sentence for the legend's tooltip."""
    kind, reason = _split(category)
    return REASON_MEANING[reason] if kind == "wait" else KIND_MEANING[kind]


def is_wait(category: int) -> bool:
    """True for waits and for idle time: what a lane does when it does not work."""
    return _split(category)[0] in ("wait", "idle")


def order(categories: list[int]) -> list[int]:
    """Legend order: work before waits, each in the order of the vocabulary."""
    return sorted(categories, key=lambda c: (is_wait(c), c))


def ink(theme: str = "light") -> Ink:
    """Text, grid and marker colours of a theme."""
    return _DARK if theme == "dark" else _LIGHT
