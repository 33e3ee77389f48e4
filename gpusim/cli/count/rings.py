"""What the roles of a draft are called, and the ring that their ops work on, as far as they say so together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpusim.cli.count.ops import by_one_warp, bytes_of, in_words, warps_of
from gpusim.cli.count.prefetch import AHEAD
from gpusim.program.sass import MULTICAST, Step

__all__ = ["ARRIVE", "TMA_LOAD", "Ring", "ring_of", "role_names"]

_WAIT, ARRIVE, TMA_LOAD = "wait, acquire or mbarrier_wait", "release, producer_commit or arrive", "tma_load"
_NAME = "input"
_GUESS = 1024
"""Bytes of a copy where nobody knows."""


@dataclass(frozen=True)
class Ring:
    """A ring: its stages and the bytes of one, 0 where nobody knows, which so many ``copies`` of one thread bring.

    ``words``: for each role its ops on the ring, by what the machine code says of them. ``private``: nobody meets, so
    that each warp can read only what it has copied itself.
    """

    stages: int = 0
    bytes: float = 0.0
    words: Sequence[Mapping[str, str]] = field(default=())
    private: bool = False
    copies: int = 1
    name: str = _NAME

    @property
    def told(self) -> str:
        """Its line in a scenario file; with two stages and a KiB a copy where nobody knows."""
        private = ", private: true" if self.private else ""
        size = self.bytes or _GUESS * self.copies
        return f"{self.name}: {{stages: {self.stages or 2}, bytes: {in_words(size)}{private}}}"

    @property
    def asked(self) -> str:
        """What nobody knows of it, as a comment; "" if all is known."""
        missing = [what for what, known in (("stages", self.stages), ("bytes of one", self.bytes)) if not known]
        return f"  # how many {', and '.join(missing)}?" if missing else ""


def role_names(turns: Sequence[Sequence[Step]]) -> list[str]:
    """A name for each role by the steps of its ``turns``: ``all`` for a single one, a number for those alike."""
    if len(turns) == 1:
        return ["all"]
    names = ["producer" if _times(turn, TMA_LOAD) else "consumer" for turn in turns]
    return [f"{name}{names[:at].count(name) + 1}" if names.count(name) > 1 else name for at, name in enumerate(names)]


def ring_of(turns: Sequence[Sequence[Step]], warps: Sequence[int], mbarriers: int = 0) -> Ring | None:
    """The ring of roles of so many ``warps`` with these ``turns``, where it can hardly be another way.

    ``mbarriers``: how many the kernel sets up, 0 if nobody knows.
    """
    if any(_times(turn, "tma_store") and (len(turns) == 1 or _times(turn, TMA_LOAD)) for turn in turns):
        # There are two rings, or one in place: who waits may wait for either.
        return None
    if len(turns) > 1:
        return _produced(turns, mbarriers)
    return _copied_ahead(turns[0], warps[0]) or _asked_by_one_thread(turns[0], warps[0], mbarriers)


def _copied_ahead(turn: Sequence[Step], warps: int) -> Ring | None:
    """That of a role which copies the tile ``ahead`` by so many threads and computes on those before."""
    copies = [step for step in turn if step.word == "cp_async"]
    ahead = {int(row.number) for step in copies for row in step.rows if row.field == AHEAD}
    if len(ahead) != 1:
        return None
    size = sum(bytes_of(step, warps) for step in copies)
    meet = any(step.word in ("sync_threads", "named_barrier") for step in turn)
    return Ring(ahead.pop() + 1, size, [{"cp_async": _NAME}], private=not meet)


def _asked_by_one_thread(turn: Sequence[Step], warps: int, mbarriers: int) -> Ring | None:
    """That of a role of which one thread asks for bulk copies, when it has waited for a free stage or all have met."""
    copies = [at for at, step in enumerate(turn) if step.word == TMA_LOAD]
    waits = [at for at, step in enumerate(turn) if step.word == _WAIT]
    by_all = [at for at in waits if warps_of(turn[at], warps) == warps]
    if warps == 1 or not copies or len(by_all) != 1 or len(waits) > 2 or _times(turn, ARRIVE) > 1:
        return None
    # What has just been read makes room for the tile that follows after all stages, or after one less where products
    # are still under way.
    late = copies[0] > by_all[0] and len(waits) == 1
    stages = mbarriers if late else _pairs(mbarriers)
    ahead = str(max((stages or 2) - _pending(turn), 1)) if late else "full"
    size = _announced(turn)
    each, asks = _part(size, len(copies)), "  # as many as stages?" if late and not stages else ""
    words = {
        _WAIT: f"wait: {_NAME}",
        by_one_warp(_WAIT): f"acquire: {{ring: {_NAME}, warps: 1, ahead: full}}",
        TMA_LOAD: f"tma_load: {{ring: {_NAME}{each}, ahead: {ahead}}}{asks}",
        ARRIVE: f"release: {_NAME}",
    }
    return Ring(stages, size, [words], copies=len(copies))


def _produced(turns: Sequence[Sequence[Step]], mbarriers: int) -> Ring | None:
    """One role waits and copies what makes up a tile, the others wait and arrive."""
    copies = [_times(turn, TMA_LOAD) for turn in turns]
    alike = all(
        _times(turn, _WAIT) == 1 and (count or _times(turn, ARRIVE) == 1)
        for turn, count in zip(turns, copies, strict=True)
    )
    if sum(map(bool, copies)) != 1 or not alike:
        return None
    size = _announced(turns[copies.index(max(copies))])
    # Of two consumers one may wait for what the other hands on.
    asks = "" if len(turns) == 2 else "  # which ring?"
    words = [
        _of_producer(count, size, turn) if count else _of_consumer(turn, asks)
        for count, turn in zip(copies, turns, strict=True)
    ]
    return Ring(_pairs(mbarriers), size, words, copies=max(copies))


def _pairs(mbarriers: int) -> int:
    """Stages of which each has an mbarrier that says it is full and one that says it is empty; 0 if it cannot be so."""
    return 0 if mbarriers % 2 else mbarriers // 2


def _announced(turn: Sequence[Step]) -> float:
    return sum(row.number for step in turn for row in step.rows if row.field == "announced")


def _of_producer(copies: int, size: float, turn: Sequence[Step]) -> dict[str, str]:
    copy = f"{{ring: {_NAME}{_part(size, copies)}}}  # as many bytes each?" if copies > 1 else _NAME
    if any(row.field == MULTICAST for step in turn for row in step.rows):
        copy = f"{{ring: {_NAME}, {MULTICAST}: true}}  # cluster: of how many CTAs?"
    return {_WAIT: f"acquire: {_NAME}", TMA_LOAD: f"tma_load: {copy}"}


def _of_consumer(turn: Sequence[Step], asks: str) -> dict[str, str]:
    """Its wait and its arrival, which gives back the stage of the products that it has waited for."""
    pending = _pending(turn)
    release = f"{{ring: {_NAME}, lag: {pending}}}" if pending else _NAME
    return {_WAIT: f"wait: {_NAME}{asks}", ARRIVE: f"release: {release}"}


def _pending(turn: Sequence[Step]) -> int:
    """Groups of products that are still under way when a turn gives a stage back."""
    waits = (row.number for step in turn if step.word == "wgmma_wait" for row in step.rows if row.field == "pending")
    return int(next(waits, 0))


def _part(size: float, copies: int) -> str:
    """Bytes of each of several copies of a tile of ``size`` bytes."""
    return f", bytes: {in_words(size // copies or _GUESS)}" if copies > 1 else ""


def _times(turn: Sequence[Step], word: str) -> int:
    return sum(step.word == word for step in turn)
