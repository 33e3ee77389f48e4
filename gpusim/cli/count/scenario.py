"""A draft as it is printed, to be pasted below `roles`, and as a scenario file with the questions that are left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpusim.cli.count.draft import Draft
from gpusim.program.sass.questions import HITS

__all__ = ["Usage", "file_of", "pasted"]

_INDENT = "  "


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


def _head(name: str, draft: Draft, usage: Usage, device: str) -> Iterator[str]:
    yield f"question: How long does {name} take?"
    yield f"device: {device}"
    yield "kernel:"
    yield f"{_INDENT}name: {name}"
    yield f"{_INDENT}grid: 132  # how many CTAs?"
    if draft.loops:
        yield f"{_INDENT}tiles_per_cta: 1  # how many turns of its loop over tiles, or {{total: those of all CTAs}}?"
    else:
        yield f"{_INDENT}tiles_per_cta: 1"
    if usage.registers:
        yield f"{_INDENT}registers: {usage.registers}"
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
