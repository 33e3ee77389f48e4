"""Walking an op list of a scenario file, with the lists that `repeat` holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpusim.scenario.op_schema import REPEAT
from gpusim.scenario.op_words import chosen

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


def as_run(steps: Sequence[Any]) -> Iterator[Placed]:
    """Each op as often and in the order in which it runs, with the place where it is written; no repeats are left."""
    for index, step in enumerate(steps):
        word, spec = chosen(step)
        if word == REPEAT:
            for _ in range(spec.times):
                for path, inner, args in as_run(spec.ops):
                    yield (index, word, "ops", *path), inner, args
        else:
            yield (index, word), word, spec


def length(steps: Sequence[Any]) -> int:
    """How many ops `as_run` yields, found without running it."""
    counts = (spec.times * length(spec.ops) if word == REPEAT else 1 for word, spec in map(chosen, steps))
    return sum(counts)
