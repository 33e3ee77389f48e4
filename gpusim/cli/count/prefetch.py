"""What a loop asks for ahead of its tiles, in a draft: `ahead`, and nothing of the first tiles before the loop.

Registers that each turn leaves to the next one, and copies that fill a ring before the loop goes on filling it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpusim.program.sass import Stated, Step

__all__ = ["AHEAD", "with_ahead", "with_copies_ahead"]

AHEAD = "ahead"
"""Field of a load, a copy or the end of its group: so many tiles early."""
_COPY, _GROUP = "cp_async", "commit_group"


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
    return kept, [_ahead(step, 1) if step.late else step for step in turn]


def with_copies_ahead(before: Sequence[Step], turn: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """The same of copies, if the loop has one group a tile and each of those ``before`` it has the same copies.

    They are the first tiles', which `ahead` asks for.
    """
    groups, last = _groups(before)
    own, _ = _groups(turn)
    if len(own) != 1 or not own[0] or not groups or last or any(group != own[0] for group in groups):
        return list(before), list(turn)
    kept = [step for step in before if step.word not in (_COPY, _GROUP)]
    return kept, [_ahead(step, len(groups)) if step.word in (_COPY, _GROUP) else step for step in turn]


def _groups(steps: Sequence[Step]) -> tuple[list[list[dict[str, float]]], list[dict[str, float]]]:
    """The copies of each group, and those that are in none yet: how many of each width."""
    groups: list[list[dict[str, float]]] = []
    under_way: list[dict[str, float]] = []
    for step in steps:
        if step.word == _COPY:
            under_way.append({row.field: row.number for row in step.rows})
        elif step.word == _GROUP:
            groups.append(under_way)
            under_way = []
    return groups, under_way


def _ahead(step: Step, tiles: int) -> Step:
    return replace(step, rows=(*step.rows, Stated(step.word, AHEAD, tiles, {})))
