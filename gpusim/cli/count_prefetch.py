"""Loads that each turn of a loop leaves to the next one, in a draft: `ahead`, and none of the first turn before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpusim.program.sass import Stated, Step

__all__ = ["AHEAD", "with_ahead"]

AHEAD = "ahead"
"""Field of a load: so many tiles early."""


def with_ahead(before: Sequence[Step], turn: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """The steps ``before`` a loop over tiles and of a ``turn``, whose loads for the next one are ahead.

    They are if steps before the loop load just these registers, and nothing waits for them there: those loads are the
    first turn's, which `ahead` asks for, and are left out. Otherwise nothing is changed.
    """
    late = frozenset().union(*(step.loads for step in turn if step.late))
    waits = [at for at, step in enumerate(before) if step.word == "wait_loads" or step.word.startswith("loop")]
    pending = before[max(waits, default=-1) + 1 :]
    first = [step for step in pending if step.loads and step.loads <= late]
    if frozenset().union(*(step.loads for step in first)) != late:
        return list(before), list(turn)
    kept = [step for step in before if not any(step is other for other in first)]
    return kept, [_ahead(step) if step.late else step for step in turn]


def _ahead(step: Step) -> Step:
    return replace(step, rows=(*step.rows, Stated(step.word, AHEAD, 1, {})))
