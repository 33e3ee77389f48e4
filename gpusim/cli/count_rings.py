"""What the roles of a draft are called, and which ops of theirs belong to a ring, as far as they say so together."""

from __future__ import annotations

from collections.abc import Sequence

from gpusim.program.sass import Step

__all__ = ["ring_words", "role_names"]

_WAIT, _ARRIVE, _COPY = "wait, acquire or mbarrier_wait", "release, producer_commit or arrive", "tma_load"
_RING = "input"


def role_names(turns: Sequence[Sequence[Step]]) -> list[str]:
    """A name for each role by the steps of its ``turns``: ``all`` for a single one, a number for those alike."""
    if len(turns) == 1:
        return ["all"]
    names = ["producer" if _copies(turn) else "consumer" for turn in turns]
    return [f"{name}{names[:at].count(name) + 1}" if names.count(name) > 1 else name for at, name in enumerate(names)]


def ring_words(turns: Sequence[Sequence[Step]]) -> list[dict[str, str]]:
    """For each role the ops that work on a ring, by what the machine code says of them.

    Told only where it can hardly be another way: one role waits and copies once a tile, the others wait and arrive.
    Who stores as well may wait for them instead.
    """
    producing = [turn for turn in turns if _copies(turn) and not _times(turn, "tma_store")]
    alike = all(_times(turn, _WAIT) == 1 for turn in turns) and all(
        _times(turn, _COPY if _copies(turn) else _ARRIVE) == 1 for turn in turns
    )
    if len(turns) == 1 or len(producing) != 1 or not alike:
        return [{} for _ in turns]
    return [_of_producer() if _copies(turn) else _of_consumer() for turn in turns]


def _of_producer() -> dict[str, str]:
    return {_WAIT: f"acquire: {_RING}  # which ring?", _COPY: f"tma_load: {_RING}"}


def _of_consumer() -> dict[str, str]:
    return {_WAIT: f"wait: {_RING}  # which ring?", _ARRIVE: f"release: {_RING}"}


def _copies(turn: Sequence[Step]) -> bool:
    return _times(turn, _COPY) > 0


def _times(turn: Sequence[Step], word: str) -> int:
    return sum(step.word == word for step in turn)
