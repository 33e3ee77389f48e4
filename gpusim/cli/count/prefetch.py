"""What a loop asks for ahead of its tiles, in a draft: `ahead`, and nothing of the first tiles before the loop.

Registers that each turn leaves to the next one, and copies that fill a ring before the loop goes on filling it. Where a
turn ends with the wait for the next tile, as the code before the loop ends with that for the first one, the turns of
the draft begin with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpusim.program.sass import Stated, Step

__all__ = ["AHEAD", "ahead_of_tiles", "filled_before"]

AHEAD = "ahead"
"""Field of a load, a copy or the end of its group: so many tiles early."""
_COPY, _GROUP = "cp_async", "commit_group"
_WAITS = ("wait_loads", "wait_group")
_TO_WAIT = (*_WAITS, "sync_threads", "named_barrier")
"""What waits for a tile, beside what is computed to bring it to where it is needed."""


def ahead_of_tiles(before: Sequence[Step], turn: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """The steps ``before`` a loop over tiles and those of a ``turn``, as an op list has them."""
    rotated = _with_copies(*_with_loads(*_begun_with_waits(before, turn)))
    if any(row.field == AHEAD for step in rotated[1] for row in step.rows):
        return rotated
    # Nothing else makes sense of a wait before anything is asked for.
    return list(before), list(turn)


def _begun_with_waits(before: Sequence[Step], turn: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Both, of which the end that waits stands in front of the ``turn``, if both have it."""
    first, own = _not_computing(before), _not_computing(turn)
    count = 0
    while (
        count < min(len(first), len(own)) - 1
        and before[first[-count - 1]].word == turn[own[-count - 1]].word
        and turn[own[-count - 1]].word in _TO_WAIT
    ):
        count += 1
    while count and turn[own[-count]].word not in _WAITS:
        count -= 1
    if not count:
        return list(before), list(turn)
    waits, rest = turn[own[-count] : own[-1] + 1], turn[: own[-count]]
    if any(step.word == "wait_loads" for step in waits):
        asked = max((at for at, step in enumerate(rest) if step.word == "wait_loads"), default=-1)
        rest = [replace(step, late=step.late or (bool(step.loads) and at > asked)) for at, step in enumerate(rest)]
    # What stands behind the waits, as the branch to the next turn, ends the turn as before.
    return [*before[: first[-count]], *before[first[-1] + 1 :]], [*waits, *rest, *turn[own[-1] + 1 :]]


def _not_computing(steps: Sequence[Step]) -> list[int]:
    """Where those stand that do more than compute."""
    return [at for at, step in enumerate(steps) if step.word != "compute"]


def _with_loads(before: Sequence[Step], turn: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Both, if loads of the ``turn`` for the next one are ahead.

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


def _with_copies(before: Sequence[Step], turn: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """The same of copies, if those ``before`` the loop are of the first tiles, each in such groups as a turn has.

    `ahead` asks for them.
    """
    groups, last = _groups(before)
    own, _ = _groups(turn)
    tiles = len(groups) // (len(own) or 1)
    if not all(own) or not tiles or last or groups != own * tiles:
        return list(before), list(turn)
    return _without_copies(before), [_ahead(step, tiles) if step.word in (_COPY, _GROUP) else step for step in turn]


def filled_before(fill: Sequence[Step], turn: Sequence[Step]) -> tuple[list[Step], list[Step]] | None:
    """A loop that fills a ring, without its copies, and the ``turn`` that copies further, whose copies are ahead.

    How many tiles follows from how many groups a turn leaves under way when it waits. None if it is another way.
    """
    (groups, _), (own, _) = _groups(fill), _groups(turn)
    waits = [at for at, step in enumerate(turn) if step.word == "wait_group"]
    if len(own) != 1 or not own[0] or groups != own or len(waits) != 1:
        return None
    copied = max(at for at, step in enumerate(turn) if step.word == _GROUP)
    pending = sum(row.number for row in turn[waits[0]].rows if row.field == "pending")
    tiles = int(pending) + (copied > waits[0])
    if not tiles:
        return None
    return _without_copies(fill), [_ahead(step, tiles) if step.word in (_COPY, _GROUP) else step for step in turn]


def _without_copies(steps: Sequence[Step]) -> list[Step]:
    return [step for step in steps if step.word not in (_COPY, _GROUP)]


def _groups(steps: Sequence[Step]) -> tuple[list[list[dict[str, float]]], list[dict[str, float]]]:
    """The copies of each group, and those that are in none yet: how many of each width."""
    groups: list[list[dict[str, float]]] = []
    under_way: list[dict[str, float]] = []
    for step in steps:
        if step.word == _COPY:
            # What no lane executes stands before some of them only.
            under_way.append({row.field: row.number for row in step.rows if row.field != "masked"})
        elif step.word == _GROUP:
            groups.append(under_way)
            under_way = []
    return groups, under_way


def _ahead(step: Step, tiles: int) -> Step:
    return replace(step, rows=(*step.rows, Stated(step.word, AHEAD, tiles, {})))
