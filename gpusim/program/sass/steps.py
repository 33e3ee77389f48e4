"""The instructions of a loop or a kernel in their order, as ops: what is computed between one access and the next.

Accesses of one kind that follow each other are one step, with what stands among them in front. What uses a load waits,
for it and for those before it, and for those that are used soon; the others are still under way. Shuffles of a sum are
a step apart from loads from shared memory, and so is what a branch jumps over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile

from gpusim.program.sass.groups import COMPUTED, committed_at_once
from gpusim.program.sass.listing import Instruction
from gpusim.program.sass.loops import Part
from gpusim.program.sass.products import ends_group
from gpusim.program.sass.registers import loaded, touched
from gpusim.program.sass.shared_loads import shared_kinds
from gpusim.program.sass.single_ops import COMMITS, op_of
from gpusim.program.sass.words import AROUND, LOADS, Stated, field_of, stated, word_of

__all__ = ["Step", "steps_of"]

_PRODUCTS = "wgmma"
_GATHERED = (*LOADS, "store", "store_cluster", "atomic", "cp_async", _PRODUCTS)
_FAR = 64
"""Instructions behind a step, of which none waits any more for what it has loaded from shared memory."""


@dataclass(frozen=True)
class Step:
    """One op of the list: its word, and what its fields state. A loop inside stands there by its name.

    ``threads``: those of a CTA that execute it, if a branch keeps others from it. ``jumped_over``:
    by the branches at these addresses, outermost first, in some turns or by some warps. ``loads``: registers that a
    load brings; ``late``: which only the loop's next turn waits for.
    """

    word: str
    rows: tuple[Stated, ...] = ()
    threads: int | None = None
    jumped_over: tuple[int, ...] = ()
    loads: frozenset[int] = frozenset()
    late: bool = False


@dataclass
class _Gathered:
    """What has been met and not yet told: computed before the last access, the accesses, computed behind them."""

    word: str = ""
    before: list[Instruction] = field(default_factory=list)
    accesses: list[Instruction] = field(default_factory=list)
    behind: list[Instruction] = field(default_factory=list)
    shared: str = ""
    """Whether it holds loads from shared memory or a tree of shuffles, by their opcode."""

    def told(self, body: Sequence[Instruction], loop: bool, later: int = 0) -> Iterator[Step]:
        """The steps of ``body``; the last ``later`` accesses are one of their own."""
        first = len(self.accesses) - later
        parts = (self.word, self.accesses[:first]), (self.word, self.accesses[first:])
        for word, those in (("compute", self.before), *parts, ("compute", self.behind)):
            if those:
                behind = [*body[body.index(those[-1]) + 1 :], *(body if loop else ())]
                loads = _brought(those) if word in LOADS else frozenset()
                rows = tuple(stated(those, behind=behind[:_FAR]))
                yield Step(word, rows, those[0].threads, those[0].jumped_over, loads)

    def add(self, word: str, one: Instruction) -> None:
        """A further access of the same kind, or something computed."""
        if word in COMPUTED:
            (self.behind if self.accesses else self.before).append(one)
        else:
            # Between products stand their descriptors and addresses, a part of issuing them; what is more is work.
            self.before += [one for one in self.behind if self.word != _PRODUCTS or field_of(one) not in AROUND]
            self.behind = []
            self.word = word
            self.accesses.append(one)


class _UnderWay:
    """Loads that nothing has waited for yet, the oldest first, by the step that states them."""

    def __init__(self, apart: set[int]) -> None:
        self._loads: list[tuple[object, Instruction, frozenset[int]]] = []
        self._apart = apart
        """Addresses of loads that are not waited for together with those before them in their step; grows."""

    def add(self, step: object, one: Instruction) -> None:
        """One more, which ``step`` states."""
        self._loads.append((step, one, frozenset(loaded(one))))

    def needed(self, one: Instruction, behind: Iterator[Instruction]) -> bool:
        """Whether ``one`` needs any. They are there then, up to the last that it or what stands ``behind`` needs."""
        first = self._waits(one)
        if first:
            self._are_there(max(first, *map(self._waits, behind), 0))
        return first > 0

    @property
    def left(self) -> list[int]:
        """Registers of the loads that nothing has waited for."""
        return [register for _, _, registers in self._loads for register in sorted(registers)]

    def waited_by(self, loop: Sequence[Instruction]) -> bool:
        """Take out the loads that ``loop`` waits for; whether it needs any before it has asked for loads itself.

        What it loads into the same registers again it waits for in each turn, and so it does for its own loads, which
        come back behind these.
        """
        again = _brought([one for one in loop if word_of(one) in LOADS])
        needed = asked = False
        for one in loop:
            if count := self._waits(one):
                needed |= not asked and any(not registers <= again for _, _, registers in self._loads[:count])
                self._are_there(count)
            asked |= word_of(one) in LOADS
        return needed

    def _are_there(self, count: int) -> None:
        """The oldest ``count`` have come; if one of the same step is left, that begins a step of its own."""
        left = self._loads[count:]
        if left and left[0][0] is self._loads[count - 1][0]:
            self._apart.add(left[0][1].address)
        self._loads = left

    def of(self, step: object) -> int:
        """How many of the loads left ``step`` states."""
        return sum(other is step for other, _, _ in self._loads)

    def ops(self) -> int:
        """How many ops state the loads left: one for each width of a step."""
        return len({(id(step), field_of(one)) for step, one, _ in self._loads})

    def _waits(self, one: Instruction) -> int:
        """So many of the oldest have to be there before ``one``."""
        registers = frozenset(touched(one))
        return max((at for at, (_, _, those) in enumerate(self._loads, 1) if registers & those), default=0)


def steps_of(part: Part, parts: Sequence[Part]) -> list[Step]:
    """The steps of one of ``parts``, the loops and the rest of a kernel.

    What a step loads from shared memory a later one may use, or one of the loop's next turn.
    """
    outer = part.name if part.is_loop else None
    inside = [other for other in parts if other.is_loop and other.inside == outer]
    loops = {
        loop: [one for other in parts if loop.holds(other) for one in other.body]
        for loop in sorted(inside, key=lambda loop: loop.first)
    }
    commits = [one.opcode for one in part.body if one.opcode in COMMITS] or [
        one.opcode for other in parts for one in other.body if one.opcode in COMMITS
    ]
    apart: set[int] = set()
    found, known = _passed(part, loops, apart, commits), 0
    while len(apart) > known:
        known = len(apart)
        found = _passed(part, loops, apart, commits)
    return [replace(found[0], rows=tuple(stated(part.body, loop=part.is_loop)))] if _is_one(found) else found


def _passed(
    part: Part, loops: Mapping[Part, Sequence[Instruction]], apart: set[int], commits: Sequence[str]
) -> list[Step]:
    """The steps of ``part``, if the loads at the addresses ``apart`` begin new ones; adds to these what else has to."""
    under_way = _UnderWay(apart)
    found = list(_steps(part, loops, under_way, apart, commits))
    if part.is_loop and (left := under_way.left):
        # The turn before has left them. If as many are left again, this one has waited for them.
        found = list(_steps(part, loops, under_way, apart, commits))
        if under_way.left == left:
            found = _with_late(found, left)
    return found


def _with_late(found: Sequence[Step], left: Collection[int]) -> list[Step]:
    """The steps of a loop, of which the last to load the registers ``left`` are marked."""
    marked, open_registers = [], set(left)
    for step in reversed(found):
        late = bool(step.loads) and step.loads <= open_registers
        marked.append(replace(step, late=late))
        open_registers -= step.loads
    return marked[::-1]


def _is_one(found: Sequence[Step]) -> bool:
    return [step.word for step in found] == ["compute"]


def _steps(
    part: Part,
    loops: Mapping[Part, Sequence[Instruction]],
    under_way: _UnderWay,
    apart: Collection[int],
    commits: Sequence[str],
) -> Iterator[Step]:
    """The steps of ``part``.

    ``loops``: those inside with all that they execute, in order; ``under_way``: loads that nothing has waited for,
    before and behind; ``apart``: addresses of loads that begin a step; ``commits``: of groups of copies.
    """
    body, loop = committed_at_once(part.body), part.is_loop
    ahead, now, committed = list(loops), _Gathered(), commits[-1] if commits else ""
    who, shared = _who(body[0]) if body else (), shared_kinds(body)
    opened = False  # whether the last product belongs to a group that is not yet complete
    for at, one in enumerate(body):
        if _who(one) != who:
            yield from now.told(body, loop)
            now, who = _Gathered(), _who(one)
        committed = one.opcode if one.opcode in COMMITS else committed
        word = COMMITS[committed] if one.opcode.startswith("DEPBAR") and committed else word_of(one)
        if ahead and one.address > ahead[0].first:
            yield from now.told(body, loop)
            now = _Gathered()
        while ahead and one.address > ahead[0].first:
            inner = ahead.pop(0)
            if under_way.waited_by(loops[inner]):
                yield _wait(under_way, inner.body[0])
            yield Step(inner.name, (), _threads(loops[inner]), inner.body[0].jumped_over)
        if under_way.needed(one, takewhile(_computes, islice(body, at + 1, None))):
            yield from now.told(body, loop, under_way.of(now))
            now = _Gathered()
            yield _wait(under_way, one)
        other = word not in COMPUTED and now.word not in ("", word)
        other |= word == now.word == _PRODUCTS and ends_group(now.accesses[-1])
        other |= now.shared not in ("", shared.get(one.address, now.shared))
        if other or one.address in apart or word not in (*COMPUTED, *_GATHERED):
            yield from now.told(body, loop)
            now = _Gathered()
        if word in COMPUTED or word in _GATHERED:
            now.add(word, one)
            now.shared = shared.get(one.address, now.shared)
        else:
            yield Step(*op_of(word, one, opened), one.threads, one.jumped_over)
        if word == _PRODUCTS:
            opened = not ends_group(one)
        if word in LOADS:
            under_way.add(now, one)
    yield from now.told(body, loop)


def _brought(loads: Sequence[Instruction]) -> frozenset[int]:
    """Registers that they write."""
    return frozenset(register for one in loads for register in loaded(one))


def _threads(body: Sequence[Instruction]) -> int | None:
    """Those that execute something of ``body``; None for all."""
    found = 0
    for one in body:
        if one.threads is None:
            return None
        found |= one.threads
    return found or None


def _who(one: Instruction) -> tuple[int | tuple[int, ...] | None, ...]:
    """Which threads execute it, and in which turns, as far as branches decide that."""
    return one.threads, one.jumped_over


def _wait(under_way: _UnderWay, one: Instruction) -> Step:
    """In front of ``one``: for all loads but those that are still under way."""
    pending = under_way.ops()
    rows = (Stated("wait_loads", "pending", pending, {}),) if pending else ()
    return Step("wait_loads", rows, jumped_over=one.jumped_over)


def _computes(one: Instruction) -> bool:
    return word_of(one) in COMPUTED
