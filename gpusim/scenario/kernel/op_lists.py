"""Walking an op list of a scenario file, with the lists that `repeat` holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil, floor
from typing import Any

from gpusim.scenario.kernel.op_schema import REPEAT
from gpusim.scenario.kernel.op_words import chosen

__all__ = ["as_run", "as_written", "length"]

Placed = tuple[tuple[str | int, ...], str, Any]
"""(path below the list up to and with the word, word, arguments)."""


def as_written(steps: Sequence[Any]) -> Iterator[Placed]:
    """Every op once, where it stands in the file; a repeat comes before the ops it holds."""
    for index, step in enumerate(steps):
        word, spec = chosen(step)
        yield (index, word), word, spec
        if word == REPEAT:
            for path, inner, args in as_written(spec.ops):
                yield (index, word, "ops", *path), inner, args


def as_run(steps: Sequence[Any], _entered: Counter[int] | None = None) -> Iterator[Placed]:
    """Each op as often and in the order in which it runs, with the place where it is written; no repeats are left.

    A repeat of 5.5 times inside another one has six turns, then five, and so on.
    """
    entered = Counter() if _entered is None else _entered
    for index, step in enumerate(steps):
        word, spec = chosen(step)
        if word == REPEAT:
            before = entered[id(spec)]
            entered[id(spec)] += 1
            for _ in range(_turns(spec, before + 1) - _turns(spec, before)):
                for path, inner, args in as_run(spec.ops, entered):
                    yield (index, word, "ops", *path), inner, args
        else:
            yield (index, word), word, spec


def length(steps: Sequence[Any]) -> int:
    """How many ops `as_run` yields, found without running it; about as many where repeats have no whole turns."""
    counts = (spec.times * length(spec.ops) if word == REPEAT else 1 for word, spec in map(chosen, steps))
    return ceil(sum(counts))


def _turns(spec: Any, entered: int) -> int:
    """Turns of a repeat in all when it has been entered so often, to the nearest one."""
    return floor(spec.times * entered + 0.5)
