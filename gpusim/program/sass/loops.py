"""The loops of a disassembled kernel as its source has them, each inside the one that holds it.

Code that calls something and is jumped over is left out: the slow paths of a division or a square root, which normal
numbers never take.

A branch that jumps back is no loop in itself: code that the compiler has put behind the kernel (the spin of a wait,
lanes that part ways) jumps back as well. A loop is a branch to an instruction that every way to the branch passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gpusim.program.sass.atomics import ATOMICS
from gpusim.program.sass.listing import Instruction, count, only_waits

__all__ = ["Part", "parts", "ways"]

_ONCE = ("BRA.U.ANY", "BRA.DIV")
"""Taken by lanes that disagree with the others: a turn more for each, in code that is written for a whole warp."""
_MOVES = ("LDG", "STG", *ATOMICS, "LDGSTS", "UBLKCP", "UTMALDG", "UTMASTG", "SYNCS")


@dataclass(frozen=True)
class Part:
    """Instructions of one loop, without those of the loops inside it; or of the kernel, without those of its loops.

    ``name``: ``loop 1.2`` is the second loop in loop 1; the rest is ``outside loops``, or ``whole`` if there are none.
    ``moves``: whether it (with the loops inside) touches global memory or waits for a copy, as a loop over tiles does.
    """

    name: str
    first: int
    last: int
    body: tuple[Instruction, ...]
    inside: str | None = None
    moves: bool = False

    @property
    def is_loop(self) -> bool:
        """Whether it runs again and again."""
        return self.name.startswith("loop")

    def holds(self, other: Part) -> bool:
        """Whether ``other`` is this loop or one inside it."""
        return f"{other.name}.".startswith(f"{self.name}.")


@dataclass(frozen=True)
class _Block:
    """Instructions that run one after the other, and where they may go on."""

    body: tuple[Instruction, ...]
    next: tuple[int, ...]


def parts(instructions: Sequence[Instruction]) -> list[Part]:
    """Loops in the order of their addresses, each before those it holds, and last what stands in none of them."""
    blocks = _blocks([i for i in instructions if i.opcode != "NOP"])
    order = _order(blocks)
    loops = _loops(blocks, order)
    waits = {head for head, members in loops.items() if only_waits(count(_listed(blocks, members)))}
    # A wait is tried once where it stands and then in a loop of its own, which runs only if it has to wait.
    spins = {head for head in waits if _is_tried_before(blocks, order, head, loops[head])}
    left_out = set().union(*(loops[head] for head in spins)) | _slow_paths(blocks, order)
    loops = {head: members - left_out for head, members in loops.items() if head not in waits}
    found = list(_nested(blocks, loops, None, ""))
    rest = _listed(blocks, set(order) - left_out - set().union(*loops.values()))
    if rest:
        found.append(Part("outside loops" if loops else "whole", rest[0].address, rest[-1].address, rest))
    return found


def _nested(blocks: dict[int, _Block], loops: dict[int, set[int]], outer: int | None, name: str) -> Iterator[Part]:
    """The loops directly inside ``outer``, each followed by those inside it."""
    inside = {head: members for head, members in loops.items() if head != outer and (
        outer is None or members < loops[outer])}  # fmt: skip
    direct = [head for head, members in inside.items() if not any(members < other for other in inside.values())]
    for number, head in enumerate(sorted(direct), 1):
        own = f"{name}.{number}" if name else f"loop {number}"
        members = loops[head]
        held = set().union(*(other for other in loops.values() if other < members))
        everything = _listed(blocks, members)
        moves = any(i.root in _MOVES for i in everything)
        last = max(blocks[member].body[-1].address for member in members if head in blocks[member].next)
        yield Part(own, head, last, _listed(blocks, members - held), name or None, moves)
        yield from _nested(blocks, loops, head, own)


def _listed(blocks: dict[int, _Block], members: set[int]) -> tuple[Instruction, ...]:
    return tuple(i for member in sorted(members) for i in blocks[member].body)


def _is_tried_before(blocks: dict[int, _Block], order: list[int], head: int, members: set[int]) -> bool:
    before = [block for block in order if block not in members and head in blocks[block].next]
    return all(any(i.opcode.startswith("SYNCS") for i in blocks[block].body) for block in before)


def _slow_paths(blocks: dict[int, _Block], order: list[int]) -> set[int]:
    """Blocks with a call, each of which every block before it can go around."""
    found = set()
    for block in order[1:]:
        before = [other for other in order if block in blocks[other].next]
        calls = any(i.root == "CALL" for i in blocks[block].body)
        if calls and all(len(set(blocks[other].next)) > 1 for other in before):
            found.add(block)
    return found


def _blocks(instructions: Sequence[Instruction]) -> dict[int, _Block]:
    """Blocks by the address of their first instruction."""
    follower = {one.address: other.address for one, other in pairwise(instructions)}
    goes = {i.address: ways(i, follower.get(i.address)) for i in instructions}
    heads = {instructions[0].address} if instructions else set()
    for address, after in goes.items():
        if after != (follower.get(address),):
            heads.update(after)
            heads.update({follower[address]} if address in follower else ())
    found: dict[int, list[Instruction]] = {}
    for i in instructions:
        if i.address in heads:
            found[i.address] = body = []
        body.append(i)
    return {
        head: _Block(tuple(body), tuple(to for to in goes[body[-1].address] if to in found))
        for head, body in found.items()
    }


def ways(instruction: Instruction, follower: int | None) -> tuple[int, ...]:
    """Addresses at which a warp may go on; a call comes back."""
    words = instruction.text.split(maxsplit=1)
    behind = () if follower is None else (follower,)
    conditional = words[0].startswith("@")
    if instruction.root in ("EXIT", "RET", "KILL"):
        return behind if conditional else ()
    targets = instruction.numbers
    if instruction.root not in ("BRA", "JMP") or not targets or instruction.opcode.startswith(_ONCE):
        return behind
    target = targets[-1]
    # A uniform predicate stands before the target: BRA !UP0, 0x120.
    return (target, *behind) if conditional or "," in words[-1] else (target,)


def _order(blocks: dict[int, _Block]) -> list[int]:
    """Blocks that can be reached, each after those by which it is reached first (reverse postorder)."""
    found: list[int] = []
    seen: set[int] = set()
    stack = [(head, iter(blocks[head].next)) for head in list(blocks)[:1]]
    seen.update(head for head, _ in stack)
    while stack:
        head, after = stack[-1]
        new = next((block for block in after if block not in seen), None)
        if new is None:
            found.append(head)
            stack.pop()
        else:
            seen.add(new)
            stack.append((new, iter(blocks[new].next)))
    return found[::-1]


def _loops(blocks: dict[int, _Block], order: list[int]) -> dict[int, set[int]]:
    """Blocks of every loop by its first one; loops that begin at the same place are one."""
    place = {block: number for number, block in enumerate(order)}
    before: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for after in blocks[block].next:
            before[after].append(block)
    above = _dominators(order, place, before)
    loops: dict[int, set[int]] = {}
    for block in order:
        for head in blocks[block].next:
            if _is_above(head, block, above, place):
                _add_natural_loop(loops.setdefault(head, {head}), block, before)
    return loops


def _add_natural_loop(members: set[int], last: int, before: dict[int, list[int]]) -> None:
    """Add to ``members`` every block from which ``last``, which jumps back, is reached without passing one of them."""
    pending = [last]
    while pending:
        member = pending.pop()
        if member not in members:
            members.add(member)
            pending += before[member]


def _dominators(order: list[int], place: dict[int, int], before: dict[int, list[int]]) -> dict[int, int]:
    """The last block that every way to a block passes (Cooper, Harvey, Kennedy 2001)."""
    above = {order[0]: order[0]} if order else {}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            common, *others = (one for one in before[block] if one in above)
            for other in others:
                common = _last_common(common, other, above, place)
            if above.get(block) != common:
                above[block], changed = common, True
    return above


def _last_common(one: int, other: int, above: dict[int, int], place: dict[int, int]) -> int:
    """The last block that every way to ``one`` and every way to ``other`` passes, by what is known so far."""
    while one != other:
        if place[other] > place[one]:
            other = above[other]
        else:
            one = above[one]
    return one


def _is_above(head: int, block: int, above: dict[int, int], place: dict[int, int]) -> bool:
    """Whether every way to ``block`` passes ``head``."""
    while place[block] > place[head]:
        block = above[block]
    return block == head
