"""When a kernel waits for the one ahead of it in its stream, and when it lets the next one begin."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from gpusim.hardware.folding.shape import Cut
from gpusim.hardware.launch.run import Run
from gpusim.program import GridDependencyWait, KernelProgram, LaunchDependents

__all__ = ["dependents_of", "uses_dependents"]


def uses_dependents(program: KernelProgram) -> bool:
    """Whether warps wait for the kernel ahead, or let the next one begin before their CTA ends."""
    ops = (op for role in program.roles for op in program.sample(role))
    return any(isinstance(op, GridDependencyWait | LaunchDependents) for op in ops)


def dependents_of(run: Run, cuts: Sequence[Cut], end_s: float) -> dict[str, Any]:
    """What the ``meta`` of a kernel that `uses_dependents` says besides; ``cuts``: what was left out of ``run``.

    ``dependency_wait_s``: when its first warp comes to wait for the kernel ahead, None if none does.
    ``waits_late``: whether that is behind what was left out. ``dependents_s``: when the last CTA has let the next
    kernel begin, or has ended. ``settled_s``: when, at the latest, all warps had come to
    the wait, and all that was asked for before it.
    """
    dependency = run.sms[0].dependency
    waited_s, settled_s = dependency.waited_s, max(dependency.settled_s, dependency.last_s)
    waits = isfinite(waited_s)
    return {
        "dependency_wait_s": _whole(waited_s, cuts, run.sms[0].name) if waits else None,
        "settled_s": settled_s or None,
        "waits_late": waits and any(cut.at_s < waited_s for cut in cuts),
        "dependents_s": min(max(_triggered_s(run, cuts, end_s)), end_s),
    }


def _triggered_s(run: Run, cuts: Sequence[Cut], end_s: float) -> list[float]:
    """By SM, when the last of its CTAs has let the next kernel begin."""
    last = (max(cta.triggered_s for cta in sm.ctas[-sm.at_once :]) for sm in run.sms)
    return [_whole(at_s, cuts, sm.name) if isfinite(at_s) else end_s for at_s, sm in zip(last, run.sms, strict=True)]


def _whole(at_s: float, cuts: Sequence[Cut], sm: str) -> float:
    """A time in a run of which something was left out, in that of everything."""
    return at_s + sum(cut.added_s for cut in cuts if cut.sm == sm and cut.at_s < at_s)
