"""The ops of each role in a few turns of its rings, where they show what a role does and what it leaves out."""

from __future__ import annotations

from gpusim.program.kernel import KernelProgram
from gpusim.program.ops import Op

__all__ = ["OpSample"]

_TURNS = 2
"""Turns of a ring that are looked at."""
_MOST = 256
"""Tiles that are looked at, at most, unless a turn has more."""


class OpSample:
    """Ops of one program, listed when somebody first asks: most programs have no mistake."""

    def __init__(self, program: KernelProgram) -> None:
        self._program = program
        self._bodies: dict[str, list[Op]] = {}
        stages = max((ring.stages for ring in program.rings), default=1)
        tiles = min(max(_TURNS * stages * program.turn, 2), max(_MOST, program.turn))
        self.tiles = min(program.most_tiles, program.head + tiles + program.tail)
        """Tiles of a CTA of which ops are listed."""

    def of(self, role: str) -> list[Op]:
        """Ops of a role; none if there is no such role."""
        if not self._bodies:
            self._bodies = {role.name: list(role.body(self.tiles)) for role in self._program.roles}
        return self._bodies.get(role, [])
