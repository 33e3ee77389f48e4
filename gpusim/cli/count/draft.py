"""A draft of the roles in the words of a scenario file, from the steps of a kernel's machine code.

What machine code does not say stands there as a comment: rings and their barriers, how often inner loops run, hits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gpusim.cli.count.ops import OUTSIDE, is_arithmetic_for_addresses, is_for_addresses, lines_of, warps_of
from gpusim.cli.count.prefetch import AHEAD, ahead_of_tiles, filled_before
from gpusim.cli.count.rings import ARRIVE, TMA_LOAD, Ring, ring_of, role_names
from gpusim.program.sass import Part, RoleParts, Step, by_role, retries, sets_up_mbarrier, steps_of
from gpusim.program.sass.questions import ALWAYS_TAKEN

__all__ = ["Draft", "draft"]

_INDENT = "  "
_COPY_WAITS = ("wait_group", "wait, acquire or mbarrier_wait", "bulk_wait")
_WAITS = ("wait_loads", *_COPY_WAITS)
_COPIES = frozenset(("cp_async", "tma_load"))
_AHEAD = ("cp_async", "commit_group", "load")
_BETWEEN_KERNELS = ("grid_dependency_wait", "launch_dependents")
_STORES = ("store", "tma_store")
_FILLS = "# copies before the loop that fill the ring: `ahead` on those in per_tile instead"
_LEFT_OUT = "# left out: what is asked for there for the first tiles, as `ahead` in per_tile says"
_RETRIES = (
    " Until no swap fails: as often as the fullest bank has lanes, 3.6 times at random, less where a comparison ends "
    "it. A mean: as one compute, with its counts times that"
)
"""What a draft adds to that question where the loop is an atomic on shared memory."""
_INSTEAD = "instead of what stands before it, behind an exit or a jump: "
_JUMPED_OVER = {
    "per_tile": f"jumped over by a branch: {ALWAYS_TAKEN} every? skip_first? skip_last? warps?",
    "once": f"jumped over by a branch: {ALWAYS_TAKEN} never, as the rest of an unrolled loop? warps?",
}
"""What a draft asks of code that a branch jumps over, in turns of a loop over tiles and elsewhere."""


@dataclass(frozen=True)
class Draft:
    """What machine code says of a kernel: the lines of its roles, its ring, and whether it has a loop over tiles."""

    roles: Sequence[str]
    ring: Ring | None
    loops: bool


def draft(parts: Sequence[Part], warps: int) -> Draft:
    """What a CTA of ``warps`` warps executes, of which ``parts``, all of one kernel, are the machine code."""
    roles = [_Role.of(role) for role in by_role(parts, warps)]
    sections = [role.sections() for role in roles]
    turns = [each["per_tile"] for each in sections]
    ring, lines = ring_of(turns, [len(role.warps) for role in roles], _mbarriers(parts)), []
    for at, (name, role) in enumerate(zip(role_names(turns), roles, strict=True)):
        numbers = role.warps
        which = f"  # {', '.join(map(str, numbers))}" if len(roles) > 1 else ""
        lines += [f"{name}:", f"{_INDENT}warps: {len(numbers)}{which}", *role.lines(ring.words[at] if ring else {})]
    if idle := sorted(set(range(warps)).difference(*(role.warps for role in roles))):
        lines.append(f"# in none of the loops: warps {', '.join(map(str, idle))}; idle_warps of a role?")
    return Draft(lines, ring, any("epilogue" in each for each in sections))


def _mbarriers(parts: Sequence[Part]) -> int:
    """How many mbarriers a kernel sets up; 0 if a loop does it, whose turns nobody knows."""
    found = [sum(map(sets_up_mbarrier, part.body)) for part in parts]
    in_loops = any(count for count, part in zip(found, parts, strict=True) if part.is_loop)
    return 0 if in_loops else sum(found)


@dataclass(frozen=True)
class _Role:
    """Warps, by their numbers, and what they execute: each part with its steps, by the part's name."""

    warps: tuple[int, ...]
    found: Mapping[str, tuple[Part, list[Step]]]

    @staticmethod
    def of(role: RoleParts) -> _Role:
        found = _Role(role.warps, {part.name: (part, steps_of(part, role.parts)) for part in role.parts})
        return found._with_fills_ahead()

    def _with_fills_ahead(self) -> _Role:
        """The same, if a loop before that over tiles fills a ring of `cp.async`: then copies are ahead."""
        loop, rest = self._over_tiles, [step.word for step in self._rest]
        for name in rest[: rest.index(loop)] if loop in rest else []:
            if name in self.found and (both := filled_before(self.found[name][1], self.found[loop][1])):
                changed = {each: (self.found[each][0], steps) for each, steps in zip((name, loop), both, strict=True)}
                return replace(self, found={**self.found, **changed})
        return self

    def sections(self) -> dict[str, list[Step]]:
        """Steps by the part of a role that they are.

        The only outermost loop is over tiles if it moves data, or of several the only one that waits for copies, or the
        only one that stores; where there is none, one tile is all of it.
        """
        rest, loop = self._rest, self._over_tiles
        at = next((number for number, step in enumerate(rest) if step.word == loop), None)
        if loop is None or at is None:
            return {"per_tile": rest}
        before, turn = ahead_of_tiles(rest[:at], self.found[loop][1])
        first, behind = self._behind_fill(before)
        return {"prologue": first, "before_loop": behind, "per_tile": turn, "epilogue": rest[at + 1 :]}

    def _behind_fill(self, before: list[Step]) -> tuple[list[Step], list[Step]]:
        """What stands before the loop over tiles, apart from where kernels meet on, if copies precede that."""
        at = next((at for at, step in enumerate(before) if step.word in _BETWEEN_KERNELS), len(before))
        filled = any(
            step.word in _COPIES or (step.word in self.found and self._fills(step.word)) for step in before[:at]
        )
        return (before[:at], before[at:]) if filled else (before, [])

    def lines(self, words: Mapping[str, str]) -> Iterator[str]:
        """Its sections; ``words``: ops as they are to be written, by what the machine code says of them."""
        sections = self.sections()
        copied = {step.word for step in sections["per_tile"]} & _COPIES
        for key, listed in sections.items():
            if listed:
                yield f"{_INDENT}{key}:"
                own = words if key == "per_tile" else dict.fromkeys(words.keys() & {TMA_LOAD}, "")
                turns = key if self._over_tiles else "once"
                yield from self._listed(listed, own, len(self.warps), 2, turns)
            said = any("ahead: " in word for word in words.values())
            if key == "prologue" and any(step.word in copied for step in listed) and not said:
                yield f"{_INDENT * 2}{_FILLS}"
            if key == "prologue" and sum(map(len, sections.values())) - len(sections["per_tile"]) + 1 < len(self._rest):
                yield f"{_INDENT * 2}{_LEFT_OUT}"

    @property
    def _rest(self) -> list[Step]:
        """The steps outside of loops, in which the outermost loops stand by their names."""
        return next((listed for part, listed in self.found.values() if not part.is_loop), [])

    @property
    def _over_tiles(self) -> str | None:
        """The loop over tiles, if it can be told."""
        outermost = [part for part, _ in self.found.values() if part.is_loop and part.inside is None]
        moving = [part.name for part in outermost if part.moves]
        if len(outermost) > len(moving) or len(moving) > 1:
            for words in (_COPY_WAITS, _WAITS):
                waiting = [name for name in moving if self._has(name, words)]
                if waiting:
                    moving = waiting
                    break
        if len(moving) > 1:
            moving = [name for name in moving if self._has(name, _STORES)]
        return moving[0] if len(moving) == 1 else None

    def _has(self, name: str, words: Collection[str]) -> bool:
        """Whether the loop ``name``, or one inside it, has a step of one of ``words``."""
        return any(
            step.word in words or (step.word in self.found and self._has(step.word, words))
            for step in self.found[name][1]
        )

    def _fills(self, name: str) -> bool:
        """Whether the loop ``name`` asks for copies and waits for none, as one that fills a ring."""
        words = {step.word for step in self.found[name][1]}
        return bool(words & _COPIES) and not self._has(name, _WAITS)

    def _listed(
        self,
        listed: Sequence[Step],
        words: Mapping[str, str],
        warps: int,
        depth: int,
        section: str,
        around: Collection[int] = (),
    ) -> Iterator[str]:
        """The ops of steps of a ``section``, a line each, loops with their own; ``around``: of all these steps."""
        space, asks = _INDENT * depth, _JUMPED_OVER.get(section, _JUMPED_OVER["once"])
        jumping = [around, *(step.jumped_over for step in listed), around]
        for at, (step, before, behind) in enumerate(zip(listed, jumping, jumping[2:], strict=False)):
            if at and words.get(listed[at - 1].word) and _gives_back(listed[:at]):
                # A stage that has been given back, or is being filled again, is not read any more.
                words = {**words, OUTSIDE: ""}
            lines = list(self._lines(listed, at, words, warps, section))
            asked = set(step.jumped_over).difference(_for_later_tiles(listed))
            begun, ended = asked.difference(before), asked.difference(behind)
            if begun and lines:
                instead = _INSTEAD if min(begun) < 0 else ""
                lines[0] += f"{'; ' if '#' in lines[0] else '  # '}{instead}{asks}"
            yield from (space + line for line in lines)
            if ended - begun:
                yield f"{space}# up to here"

    def _lines(
        self, listed: Sequence[Step], at: int, words: Mapping[str, str], warps: int, section: str
    ) -> Iterator[str]:
        """The lines of one step."""
        step = listed[at]
        if is_arithmetic_for_addresses(listed, at, warps):
            yield from (f"# {line[2:]}: addresses, within the cost of the copy" for line in lines_of(step, 1, {}))
        elif step.word in self.found:
            fills = " Or, if it fills the ring: `ahead` on the copies in per_tile." if self._fills(step.word) else ""
            inner, some = self.found[step.word][1], warps_of(step, warps)
            fills += _RETRIES if any(map(_swaps, inner)) else ""
            own = " By one warp; perhaps a role of its own" if some == 1 < warps else ""
            yield f"- repeat:  # {step.word}: how often?{fills}{own}"
            yield "    times: 1"
            yield "    ops:"
            yield from self._listed(inner, words, warps, 3, section, step.jumped_over)
        else:
            yield from lines_of(step, warps, words)


def _swaps(step: Step) -> bool:
    """Whether it tries to swap a value of shared memory for a sum."""
    return any(retries(opcode) for row in step.rows for opcode in row.opcodes)


def _gives_back(listed: Sequence[Step]) -> bool:
    """Whether the last step leaves the stage to a later tile: it says so, or copies that tile in behind its reader."""
    last = listed[-1].word
    read = any(row.field.startswith("lds ") and "reads: false" not in row.field for step in listed for row in step.rows)
    return last == ARRIVE or (last == TMA_LOAD and read)


def _for_later_tiles(listed: Sequence[Step]) -> set[int]:
    """Branches that jump over nothing but what is ahead, and addresses: past the last tile, as `ahead` says."""
    found = set()
    for branch in {branch for step in listed for branch in step.jumped_over}:
        block = [step for step in listed if branch in step.jumped_over]
        ahead = any(row.field == AHEAD for step in block for row in step.rows)
        if ahead and all(step.word in _AHEAD or is_for_addresses(step) for step in block):
            found.add(branch)
    return found
