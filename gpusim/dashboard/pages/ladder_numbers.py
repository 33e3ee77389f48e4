"""What a rung of the ladder changes, in numbers of its case and of what that stands against."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpusim.dashboard.figure.palette import label
from gpusim.dashboard.figure.text import bytes_text, even_text, percent, signed_percent
from gpusim.dashboard.figure.track import MICRO
from gpusim.dashboard.page.case import MEASURED, Case
from gpusim.timeline import KINDS, REASONS, Timeline
from gpusim.timeline.lane_names import is_inside, last_part
from gpusim.timeline.metrics import COMPUTE_KINDS, wait_by_reason
from gpusim.timeline.unions import union_length

__all__ = ["Change", "Line", "changes_of", "filled", "gain", "idle_of", "lines_of", "remaining"]

NOTABLE = 0.02
"""Share of the time from which idle time, or a change of it, is worth a word."""
_NO_LOSS = ("host_sync", "stage_full")
"""Waits of those who have nothing else to do: a host that has asked for everything, a loader that is ahead."""


@dataclass(frozen=True, slots=True)
class Line:
    """A number before and now, as text; "" where it is not known."""

    name: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Change:
    """Idle time before and now, as shares of the total."""

    name: str
    before: float
    now: float


def idle_of(timeline: Timeline) -> dict[str, float]:
    """Who does nothing for which share of the predicted time: units, computing warps, and waits by their reason."""
    shares: dict[str, float] = {}
    total_s = timeline.total_s
    for lane in timeline.lanes:  # rungs have one device
        if (part := last_part(lane)).name != "copy_engine":
            continue
        engine = part.index.upper()
        shares[f"copy engine {engine} idle"] = 1.0 - _busy(timeline, timeline.mask(lanes=_exactly(lane))) / total_s
    inside = np.array([is_inside(lane) for lane in timeline.lanes], dtype=bool)
    computing = timeline.mask(kinds=COMPUTE_KINDS) & ~inside[timeline.lane]
    if shares:
        shares["kernels idle"] = 1.0 - _busy(timeline, computing) / total_s
    elif computing.any():
        lanes = np.unique(timeline.lane[computing])
        spent = float((timeline.end_s - timeline.start_s)[computing].sum())
        shares["computing warps not computing"] = 1.0 - spent / (len(lanes) * total_s)
    if "hbm_busy" in timeline.meta:
        shares["HBM idle"] = 1.0 - float(timeline.meta["hbm_busy"])
    for reason, seconds in wait_by_reason(timeline).items():
        if reason not in _NO_LOSS:
            shares[_wait_name(reason)] = seconds / (total_s * max(_lanes_waiting(timeline, reason), 1))
    return shares


def _busy(timeline: Timeline, keep: np.ndarray) -> float:
    """Seconds in which any of these intervals goes on."""
    one = np.zeros(int(keep.sum()), dtype=np.int64)
    return float(union_length(one, timeline.start_s[keep], timeline.end_s[keep], 1)[0])


def _exactly(lane: str) -> str:
    return f"^{lane.replace('[', chr(92) + '[').replace(']', chr(92) + ']')}$"


def _wait_name(reason: str) -> str:
    """As the legend of the timelines calls it."""
    return label(KINDS.index("barrier") if reason == "barrier" else len(KINDS) + REASONS.index(reason))


def _lanes_waiting(timeline: Timeline, reason: str) -> int:
    """How many lanes wait for this reason at all."""
    if reason == "barrier":
        keep = timeline.mask(kinds=("barrier",))
    else:
        keep = timeline.mask(kinds=("wait",)) & (timeline.reason == REASONS.index(reason))
    return len(np.unique(timeline.lane[keep]))


def changes_of(now: Case, before: Case | None) -> list[Change]:
    """Idle time of both sides, the largest now first."""
    ours = idle_of(now.predicted.timeline)
    theirs = idle_of(before.predicted.timeline) if before is not None else {}
    found = [Change(name, theirs.get(name, 0.0), ours.get(name, 0.0)) for name in ours | theirs]
    return sorted(found, key=lambda change: -change.now)


def filled(now: Case, before: Case) -> list[Change]:
    """Idle time that became less by as much as is worth a word, the most first."""
    less = [change for change in changes_of(now, before) if change.before - change.now >= NOTABLE]
    return sorted(less, key=lambda change: change.now - change.before)


def remaining(now: Case) -> list[Change]:
    """Idle time that is left, the most first."""
    return [change for change in changes_of(now, None) if change.now >= NOTABLE]


def lines_of(now: Case, before: Case | None) -> list[Line]:
    """Times on both sides, what is hidden, and what it costs."""
    rows: tuple[tuple[str, Callable[[Case], str]], ...] = (
        ("predicted", lambda case: _time(case.predicted_numbers.total_s)),
        ("measured", lambda case: _time(_measured(case))),
        ("error", lambda case: signed_percent(case.error) if _measured(case) else ""),
        ("copy time hidden", lambda case: percent(case.predicted_numbers.hidden_fraction, 0)),
        ("copy time exposed", lambda case: _time(case.predicted_numbers.exposed_s)),
        ("shared memory per CTA", lambda case: bytes_text(case.cost.shared_bytes) if case.cost else ""),
        ("registers per thread", lambda case: str(case.cost.registers) if case.cost else ""),
        ("warps per CTA", lambda case: str(case.cost.warps) if case.cost else ""),
        ("occupancy", lambda case: case.occupancy),
    )
    lines = [Line(name, text(before) if before is not None else "", text(now)) for name, text in rows]
    return [line for line in lines if line.before or line.now]


def gain(now: Case, before: Case) -> tuple[float | None, float | None]:
    """How many times faster than before, predicted and measured."""
    ours, theirs = (case.predicted_numbers.total_s for case in (now, before))
    seen, seen_before = _measured(now), _measured(before)
    return (theirs / ours if ours and theirs else None, seen_before / seen if seen and seen_before else None)


def _measured(case: Case) -> float | None:
    numbers = case.other_numbers if case.recorded and case.against == MEASURED else None
    return numbers.total_s if numbers else None


def _time(seconds: float | None) -> str:
    return "" if seconds is None else even_text(seconds * MICRO)
