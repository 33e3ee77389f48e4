"""What the roles of a draft are called, and the ring that their ops work on, as far as they say so together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpusim.cli.count.ops import bytes_of
from gpusim.cli.count.prefetch import AHEAD
from gpusim.program.sass import Step

__all__ = ["Ring", "ring_of", "role_names"]

_WAIT, _ARRIVE, _COPY = "wait, acquire or mbarrier_wait", "release, producer_commit or arrive", "tma_load"
_NAME = "input"


@dataclass(frozen=True)
class Ring:
    """A ring: its stages and the bytes of one, 0 where nobody knows.

    ``words``: for each role its ops on the ring, by what the machine code says of them. ``private``: nobody meets, so
    that each warp can read only what it has copied itself.
    """

    stages: int = 0
    bytes: float = 0.0
    words: Sequence[Mapping[str, str]] = field(default=())
    private: bool = False
    name: str = _NAME


def role_names(turns: Sequence[Sequence[Step]]) -> list[str]:
    """A name for each role by the steps of its ``turns``: ``all`` for a single one, a number for those alike."""
    if len(turns) == 1:
        return ["all"]
    names = ["producer" if _times(turn, _COPY) else "consumer" for turn in turns]
    return [f"{name}{names[:at].count(name) + 1}" if names.count(name) > 1 else name for at, name in enumerate(names)]


def ring_of(turns: Sequence[Sequence[Step]], warps: Sequence[int]) -> Ring | None:
    """The ring of roles of so many ``warps`` with these ``turns``, where it can hardly be another way."""
    return _copied_ahead(turns[0], warps[0]) if len(turns) == 1 else _produced(turns)


def _copied_ahead(turn: Sequence[Step], warps: int) -> Ring | None:
    """That of a role which copies the tile ``ahead`` by so many threads and computes on those before."""
    copies = [step for step in turn if step.word == "cp_async"]
    ahead = {int(row.number) for step in copies for row in step.rows if row.field == AHEAD}
    if len(ahead) != 1:
        return None
    size = sum(bytes_of(step, warps) for step in copies)
    meet = any(step.word in ("sync_threads", "named_barrier") for step in turn)
    return Ring(ahead.pop() + 1, size, [{"cp_async": _NAME}], private=not meet)


def _produced(turns: Sequence[Sequence[Step]]) -> Ring | None:
    """One role waits and copies once a tile, the others wait and arrive. Who stores, too, may wait for them instead."""
    copying = [bool(_times(turn, _COPY)) for turn in turns]
    alike = all(
        _times(turn, _WAIT) == 1 and _times(turn, _COPY if copies else _ARRIVE) == 1
        for turn, copies in zip(turns, copying, strict=True)
    )
    if copying.count(True) != 1 or not alike or any(_times(turn, "tma_store") for turn in turns):
        return None
    producing = turns[copying.index(True)]
    announced = [row.number for step in producing for row in step.rows if row.field == "announced"]
    return Ring(
        0, announced[0] if announced else 0, [_of_producer() if copies else _of_consumer() for copies in copying]
    )


def _of_producer() -> dict[str, str]:
    return {_WAIT: f"acquire: {_NAME}  # which ring?", _COPY: f"tma_load: {_NAME}"}


def _of_consumer() -> dict[str, str]:
    return {_WAIT: f"wait: {_NAME}  # which ring?", _ARRIVE: f"release: {_NAME}"}


def _times(turn: Sequence[Step], word: str) -> int:
    return sum(step.word == word for step in turn)
