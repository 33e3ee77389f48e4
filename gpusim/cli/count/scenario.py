"""A draft as it is printed, to be pasted below `roles`, and as a scenario file with the questions that are left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gpusim.cli.count.draft import Draft
from gpusim.program.sass.questions import HITS
from gpusim.scenario.fields import NAME_LENGTH

__all__ = ["Usage", "file_of", "pasted", "short_name"]

_INDENT = "  "
_USUAL_REGISTERS = 32


@dataclass(frozen=True)
class Usage:
    """Registers of a thread and bytes of static shared memory of a CTA, 0 where nobody knows."""

    registers: int = 0
    shared_bytes: int = 0


def pasted(draft: Draft, usage: Usage) -> str:
    """The roles, behind comments on what stands elsewhere in a file."""
    about = [f"registers: {usage.registers}"] if usage.registers else []
    if usage.shared_bytes:
        about.append(f"shared_bytes: {usage.shared_bytes}, static; less what of it is a ring, and with what is dynamic")
    if draft.ring:
        about.append(f"rings: {{{draft.ring.told}}}{draft.ring.asked}")
    return "\n".join([*(f"# {line}" for line in about), *draft.roles])


def file_of(name: str, draft: Draft, usage: Usage, device: str = "h200_sxm") -> str:
    """A scenario of the kernel ``name``; what nobody but its author knows is asked for in comments."""
    return "\n".join([*_head(name, draft, usage, device), *(f"{_INDENT * 2}{line}" for line in draft.roles), ""])


def short_name(name: str) -> str:
    """What a kernel may be called in a scenario: of a mangled name the function's own, of a long one the beginning."""
    parts, rest = [], name.removeprefix("_ZN").removeprefix("_Z")
    while found := re.match(r"K?(\d+)", rest) if name.startswith("_Z") else None:
        end = found.end() + int(found[1])
        parts.append(rest[found.end() : end])
        rest = rest[end:]
    own = parts[-1] if parts else name
    return own[:NAME_LENGTH]


def _head(name: str, draft: Draft, usage: Usage, device: str) -> Iterator[str]:
    short = short_name(name)
    yield f"question: How long does {short} take?"
    yield f"device: {device}"
    yield "kernel:"
    yield f"{_INDENT}name: {short}" + (f"  # {name}" if short != name else "")
    yield f"{_INDENT}grid: 132  # how many CTAs?"
    if draft.loops:
        yield f"{_INDENT}tiles_per_cta: 1  # how many turns of its loop over tiles, or {{total: those of all CTAs}}?"
    else:
        yield f"{_INDENT}tiles_per_cta: 1"
    asked = "" if usage.registers else "  # how many a thread?"
    yield f"{_INDENT}registers: {usage.registers or _USUAL_REGISTERS}{asked}"
    ring = draft.ring
    besides = usage.shared_bytes
    if ring and besides >= ring.stages * ring.bytes:
        besides -= int(ring.stages * ring.bytes)
    asked = "  # static; and what is dynamic, without rings?" if besides else "  # dynamic, without rings?"
    yield f"{_INDENT}shared_bytes: {besides}{asked}"
    if ring:
        yield f"{_INDENT}rings:"
        yield f"{_INDENT * 2}{ring.told}{ring.asked}"
    yield f"{_INDENT}# Which loads {HITS} Then say l2_hit or l1_hit there: no draft knows."
    yield f"{_INDENT}roles:"
