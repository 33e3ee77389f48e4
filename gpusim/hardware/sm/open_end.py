"""A run that is told its end while it runs: as soon as its first CTAs show a steady state.

All lanes of the first CTAs on an SM are looked at when each has begun a certain tile. If the tiles until then are
steady, what lies ahead is left out, from wherever the foremost lane is; if not, the run goes on until the next look,
and at last to its end, so that nothing was simulated in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gpusim.hardware.folding.periodic import AGREEMENT, LATER_AGREEMENT, LOOKS, steady_wave
from gpusim.hardware.folding.shape import Shape
from gpusim.hardware.sm.cta import Parts
from gpusim.program import KernelProgram, Op, Role

if TYPE_CHECKING:
    from gpusim.hardware.sm.sm import Sm

__all__ = ["OpenEnd"]

_NEVER = 0, AGREEMENT


class OpenEnd:
    """Decides, while ``program`` is being simulated, after how many tiles its CTAs end.

    ``few``: tiles of the shortest run in which a steady state can be seen. The program has `LISTED_TILES` at most.
    ``rough``: how far periods may differ at least.
    """

    def __init__(self, program: KernelProgram, shape: Shape, few: int, rough: float = 0.0) -> None:
        self.missing = 0
        """Tiles that were left out of every CTA; 0 until a look has found a steady state."""
        self._program, self._shape = program, shape
        self._tiles = program.fewest_tiles
        self._looks = _looks(shape, few - shape.drain, self._tiles, rough)
        self._next, self.agreement = next(self._looks, _NEVER)
        """The tile at which to look next, 0 for none, and the largest relative difference of periods to accept then."""
        self._behind = 0
        """By how many tiles ops of a role may lie behind those before them."""
        self._foremost = 0
        """The last tile that a lane has begun."""
        self._begun: dict[str, int] = {}
        """How many ops of each role its foremost lane has begun."""
        self._there = self._lanes = 0
        """How many lanes of the first CTAs have reached the tile of the next look, and how many lanes there are."""
        self._sms: Sequence[Sm] = ()
        self._parts: Parts | None = None

    def watch(self, sms: Sequence[Sm], parts: Parts) -> None:
        """Look at the first CTAs of ``sms``, which have not begun yet."""
        self._sms, self._parts = sms, parts
        self._lanes = sum(sm.first_lanes for sm in sms)
        self._behind = max(_behind(parts.ops(role, self._tiles)) for role in self._program.roles)

    @property
    def stretched(self) -> float:
        """How many times as many tiles the program has as the run."""
        return self._tiles / (self._tiles - self.missing) if self._tiles else 1.0

    def ops(self, role: Role, tiles: int) -> Iterator[Op]:
        """The ops of ``role`` in one of the first CTAs, which has ``tiles`` tiles, or fewer from some op on."""
        begun = looked_at = missing = 0
        ops = self._parts.ops(role, tiles)
        while begun < len(ops):
            op = ops[begun]
            begun += 1
            if self._next:
                self._foremost = max(self._foremost, op.tile)
                self._begun[role.name] = max(self._begun.get(role.name, 0), begun)
                if op.tile >= self._next > looked_at:
                    looked_at = self._next
                    self._there += 1
                    if self._there == self._lanes:
                        self._look()
            yield op
            if self.missing != missing:
                missing = self.missing
                ops = self._parts.ops(role, tiles - missing)

    def _look(self) -> None:
        """End the run if it is steady, or settle when to look again."""
        count = self._shape.whole_turns(self._foremost + 1 + self._program.tail, self._tiles)
        seen, missing = self._next - self._behind, self._tiles - count
        waves = [[cta.done_s[:seen] for cta in sm.ctas[: sm.at_once]] for sm in self._sms]
        if not _worth_it(count, self._tiles):
            self._next = 0
        elif all(steady_wave(wave, self._shape.stride, 0, self.agreement, missing) for wave in waves) and self._same(
            missing
        ):
            self._next, self.missing = 0, missing
            for sm in self._sms:
                for cta in sm.ctas:
                    cta.leave_out(missing)
        else:
            self._there = 0
            self._next, self.agreement = next(self._looks, _NEVER)

    def _same(self, missing: int) -> bool:
        """Whether a CTA with ``missing`` tiles less would have begun the same ops."""
        for role in self._program.roles:
            for tiles in {cta.tiles for sm in self._sms for cta in sm.ctas}:
                begun = self._begun.get(role.name, 0)
                if self._parts.ops(role, tiles)[:begun] != self._parts.ops(role, tiles - missing)[:begun]:
                    return False
        return True


def _looks(shape: Shape, tile: int, tiles: int, rough: float) -> Iterator[tuple[int, float]]:
    """The tiles at which to look, from ``tile`` on, and how well periods must agree there, ``rough`` will do."""
    for look in range(LOOKS):
        if not _worth_it(tile, tiles):
            return
        yield tile, max(LATER_AGREEMENT if look else AGREEMENT, rough)
        tile = shape.longer(tile)


def _behind(ops: Iterable[Op]) -> int:
    """By how many tiles ops may lie behind those before them: loads for later tiles come first."""
    foremost = behind = 0
    for op in ops:
        if op.tile >= 0:
            foremost = max(foremost, op.tile)
            behind = max(behind, foremost - op.tile)
    return behind


def _worth_it(count: int, tiles: int) -> bool:
    """Whether to simulate only ``count`` of so many ``tiles``: if they cost little, they are better not left out."""
    return count * 5 // 3 < tiles
