"""What the roles of a draft are called, and the ring that their ops work on, as far as they say so together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpusim.cli.count.ops import by_one_warp, bytes_of, in_words, warps_of
from gpusim.cli.count.prefetch import AHEAD
from gpusim.program.sass import Step

__all__ = ["ARRIVE", "TMA_LOAD", "Ring", "ring_of", "role_names"]

_WAIT, ARRIVE, TMA_LOAD = "wait, acquire or mbarrier_wait", "release, producer_commit or arrive", "tma_load"
_NAME = "input"
_GUESS = 1024
"""Bytes of a stage where nobody knows."""


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

    @property
    def told(self) -> str:
        """Its line in a scenario file; with two stages and a KiB where nobody knows."""
        private = ", private: true" if self.private else ""
        return f"{self.name}: {{stages: {self.stages or 2}, bytes: {in_words(self.bytes or _GUESS)}{private}}}"


def role_names(turns: Sequence[Sequence[Step]]) -> list[str]:
    """A name for each role by the steps of its ``turns``: ``all`` for a single one, a number for those alike."""
    if len(turns) == 1:
        return ["all"]
    names = ["producer" if _times(turn, TMA_LOAD) else "consumer" for turn in turns]
    return [f"{name}{names[:at].count(name) + 1}" if names.count(name) > 1 else name for at, name in enumerate(names)]


def ring_of(turns: Sequence[Sequence[Step]], warps: Sequence[int]) -> Ring | None:
    """The ring of roles of so many ``warps`` with these ``turns``, where it can hardly be another way."""
    if any(_times(turn, "tma_store") for turn in turns):
        # There are two rings, or one in place: who waits may wait for either.
        return None
    if len(turns) > 1:
        return _produced(turns)
    return _copied_ahead(turns[0], warps[0]) or _asked_by_one_thread(turns[0], warps[0])


def _copied_ahead(turn: Sequence[Step], warps: int) -> Ring | None:
    """That of a role which copies the tile ``ahead`` by so many threads and computes on those before."""
    copies = [step for step in turn if step.word == "cp_async"]
    ahead = {int(row.number) for step in copies for row in step.rows if row.field == AHEAD}
    if len(ahead) != 1:
        return None
    size = sum(bytes_of(step, warps) for step in copies)
    meet = any(step.word in ("sync_threads", "named_barrier") for step in turn)
    return Ring(ahead.pop() + 1, size, [{"cp_async": _NAME}], private=not meet)


def _asked_by_one_thread(turn: Sequence[Step], warps: int) -> Ring | None:
    """That of a role of which one thread asks for bulk copies, when it has waited for a free stage or all have met."""
    copies = [at for at, step in enumerate(turn) if step.word == TMA_LOAD]
    waits = [at for at, step in enumerate(turn) if step.word == _WAIT]
    by_all = [at for at in waits if warps_of(turn[at], warps) == warps]
    if warps == 1 or not copies or len(by_all) != 1 or len(waits) > 2 or _times(turn, ARRIVE) > 1:
        return None
    # What has just been read makes room for the tile that follows after all stages.
    late = copies[0] > by_all[0] and len(waits) == 1
    ahead = "2}  # as many as stages?" if late else "full}"
    size = _announced(turn)
    each = f"bytes: {in_words((size or _GUESS) / len(copies))}, " if len(copies) > 1 else ""
    words = {
        _WAIT: f"wait: {_NAME}  # which ring?",
        by_one_warp(_WAIT): f"acquire: {{ring: {_NAME}, warps: 1, ahead: full}}",
        TMA_LOAD: f"tma_load: {{ring: {_NAME}, {each}ahead: {ahead}",
        ARRIVE: f"release: {_NAME}",
    }
    return Ring(0, size, [words])


def _produced(turns: Sequence[Sequence[Step]]) -> Ring | None:
    """One role waits and copies once a tile, the others wait and arrive."""
    copying = [bool(_times(turn, TMA_LOAD)) for turn in turns]
    alike = all(
        _times(turn, _WAIT) == 1 and _times(turn, TMA_LOAD if copies else ARRIVE) == 1
        for turn, copies in zip(turns, copying, strict=True)
    )
    if copying.count(True) != 1 or not alike:
        return None
    words = [_of_producer() if copies else _of_consumer() for copies in copying]
    return Ring(0, _announced(turns[copying.index(True)]), words)


def _announced(turn: Sequence[Step]) -> float:
    return sum(row.number for step in turn for row in step.rows if row.field == "announced")


def _of_producer() -> dict[str, str]:
    return {_WAIT: f"acquire: {_NAME}  # which ring?", TMA_LOAD: f"tma_load: {_NAME}"}


def _of_consumer() -> dict[str, str]:
    return {_WAIT: f"wait: {_NAME}  # which ring?", ARRIVE: f"release: {_NAME}"}


def _times(turn: Sequence[Step], word: str) -> int:
    return sum(step.word == word for step in turn)
