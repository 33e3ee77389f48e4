"""The instructions of a loop or a kernel in their order, as ops: what is computed between one access and the next.

Accesses of one kind that follow each other are one step, with what stands among them in front; what uses the first
load waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gpusim.program.sass import Instruction
from gpusim.program.sass_loops import Part
from gpusim.program.sass_registers import loaded, touched
from gpusim.program.sass_words import NO_MODEL, Stated, stated, word_of

__all__ = ["Step", "steps"]

_COMPUTED = ("compute", NO_MODEL)
_GATHERED = ("load", "store", "cp_async")


@dataclass(frozen=True)
class Step:
    """One op of the list: its word, and what its fields state. A loop inside stands there by its name."""

    word: str
    rows: tuple[Stated, ...] = ()


@dataclass
class _Gathered:
    """What has been met and not yet told: computed before the last access, the accesses, computed behind them."""

    word: str = ""
    before: list[Instruction] = field(default_factory=list)
    accesses: list[Instruction] = field(default_factory=list)
    behind: list[Instruction] = field(default_factory=list)

    def told(self, *, wait: bool = False) -> Iterator[Step]:
        """The steps; with ``wait`` the loads are waited for."""
        for word, those in (("compute", self.before), (self.word, self.accesses), ("compute", self.behind)):
            if those:
                yield Step(word, tuple(stated(those)))
        if wait:
            yield Step("wait_loads")

    def add(self, word: str, one: Instruction) -> None:
        """A further access of the same kind, or something computed."""
        if word in _COMPUTED:
            (self.behind if self.accesses else self.before).append(one)
        else:
            self.before += self.behind
            self.behind = []
            self.word = word
            self.accesses.append(one)


def steps(part: Part, parts: Sequence[Part]) -> list[Step]:
    """Of one of ``parts``, the loops and the rest of a kernel.

    Loads from shared memory that a turn leaves to the next are seen as such where no access stands in the loop.
    """
    outer = part.name if part.is_loop else None
    inside = sorted((other.first, other.name) for other in parts if other.is_loop and other.inside == outer)
    found = list(_steps(part.body, inside))
    return [Step("compute", tuple(stated(part.body, loop=part.is_loop)))] if _is_one(found) else found


def _is_one(found: Sequence[Step]) -> bool:
    return [step.word for step in found] == ["compute"]


def _steps(body: Sequence[Instruction], loops: list[tuple[int, str]]) -> Iterator[Step]:
    now, pending = _Gathered(), set()
    for one in body:
        word = word_of(one)
        if pending.intersection(touched(one)):
            yield from now.told(wait=True)
            now, pending = _Gathered(), set()
        here = bool(loops) and one.address > loops[0][0]
        if here or (word not in _COMPUTED and now.word not in ("", word)) or word not in (*_COMPUTED, *_GATHERED):
            yield from now.told()
            now = _Gathered()
        while loops and one.address > loops[0][0]:
            yield Step(loops.pop(0)[1])
        if word in _COMPUTED or word in _GATHERED:
            now.add(word, one)
        else:
            yield Step(word, tuple(stated([one])))
        if word == "load":
            pending.update(loaded(one))
    yield from now.told()
