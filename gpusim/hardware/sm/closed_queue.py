"""Warps that stall at different times: a closed queue for their scheduler and for shared memory.

Models: a warp is served by its scheduler, then by shared memory, which all schedulers share, and then its data are on
  their way; so many warps go round for ever.
Source: mean value analysis (Reiser, Lavenberg 1980; approximate: Schweitzer 1979). Against realkernels.microbench
  (ahead): either of the two functions alone is up to 7 % off on average, the larger of both 4.
"""

from __future__ import annotations

from math import ceil

__all__ = ["both_in_turn", "for_scheduler"]

_HALVINGS = 40


def for_scheduler(warps: float, service: float, away: float) -> float:
    """Cycles from one turn to the next of each of ``warps``, who are served for ``service`` and then ``away``.

    Times of service vary, as those of loops do whose instructions are not the same. Between whole numbers of warps a
    straight line.
    """
    waiting, cycle, before = 0.0, away + service, away + service
    for number in range(1, ceil(warps) + 1):
        response = service * (1.0 + waiting)
        before, cycle = cycle, response + away
        waiting = number * response / cycle
    return cycle - (ceil(warps) - warps) * (cycle - before)


def both_in_turn(warps: float, schedulers: float, service: float, path: float, away: float) -> float:
    """Cycles from one turn to the next where warps queue at the scheduler and then at shared memory.

    ``warps``: on each of the ``schedulers`` of an SM; each is served by its scheduler for ``service``, by shared memory
    for ``path``, and then is ``away``.
    Everybody takes equally long, so that of the one in service half is left on average. ``away`` is less than nothing
    if a warp has something else to do between its loads and their use.
    """
    rivals, all_rivals = max(warps - 1.0, 0.0) * service, (schedulers * warps - 1.0) * path
    low = max(rivals, all_rivals)
    high = 2.0 * (rivals + service + all_rivals + path + max(away, 0.0)) + 1.0
    for _ in range(_HALVINGS):
        cycle = (low + high) / 2.0
        if _waited(service, rivals / cycle) + max(_waited(path, all_rivals / cycle) + away, 0.0) > cycle:
            low = cycle
        else:
            high = cycle
    return high


def _waited(service: float, busy: float) -> float:
    """Cycles until one is served who finds the server ``busy`` with others for that part of the time."""
    return service * (1.0 - busy / 2.0) / (1.0 - busy)
