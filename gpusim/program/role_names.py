"""How messages name roles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpusim.errors import listing
from gpusim.program.kernel import Role

__all__ = ["in_words", "with_warps"]


def in_words(roles: Iterable[str]) -> str:
    """A few names: "role 'a'", "roles 'a', 'b'"."""
    names = [repr(role) for role in roles]
    return f"role{'s' if len(names) > 1 else ''} {listing(names)}"


def with_warps(roles: Sequence[Role]) -> str:
    """The same with how many warps they have together: "roles 'a', 'b' (8 warps)"."""
    warps = sum(role.warps for role in roles)
    return f"{in_words(role.name for role in roles)} ({warps} warp{'s' if warps > 1 else ''})"
