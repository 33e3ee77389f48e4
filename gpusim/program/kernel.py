"""A kernel as roles, rings and resources: the input of the hardware model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import UnionType

from gpusim.program.ops import Op

__all__ = ["WARP_SIZE", "Barrier", "KernelProgram", "Ring", "Role"]

WARP_SIZE = 32


@dataclass(frozen=True, slots=True)
class Ring:
    """A circular buffer of ``stages`` × ``bytes`` in shared memory.

    Each stage has a full and an empty mbarrier. ``full_arrivals`` counts the arrivals
    (besides transaction bytes) that complete a full phase, ``empty_arrivals`` those that
    complete an empty phase: one per consumer warp. Rings that are guarded by
    ``__syncthreads`` alone leave the barriers unused. In a ``private`` one each warp fills and reads a part of its own.
    """

    name: str
    stages: int
    bytes: int
    full_arrivals: int = 1
    empty_arrivals: int = 1
    private: bool = False


@dataclass(frozen=True, slots=True)
class Barrier:
    """A named mbarrier that completes a phase after ``arrivals`` arrivals and its bytes."""

    name: str
    arrivals: int


@dataclass(frozen=True, slots=True)
class Role:
    """``warps`` warps of a CTA that run the same instruction stream.

    ``body(tiles)`` yields the ops of one CTA that has ``tiles`` tiles to do; it must be
    pure, so that it can be run again for another CTA or another tile count.
    """

    name: str
    warps: int
    body: Callable[[int], Iterable[Op]]


@dataclass(frozen=True, slots=True)
class KernelProgram:
    """One kernel launch: what every CTA does, how many there are, and what each of them occupies."""

    name: str
    """As it is called in messages and on screen."""
    grid: int
    """CTAs of the launch."""
    tiles_per_cta: int | tuple[int, ...]
    """Tiles to do: one count for all CTAs, or one count per CTA."""
    roles: tuple[Role, ...]
    """They own warps in the order given: role 0 has warps 0…w0-1 and so on. Warps of a CTA go to the schedulers in
    turn."""
    rings: tuple[Ring, ...] = ()
    """Circular buffers of each CTA."""
    barriers: tuple[Barrier, ...] = ()
    """mbarriers of each CTA outside its rings."""
    shared_bytes: int = 0
    """Bytes of shared memory per CTA: rings, barriers and what else is declared, without the driver's reserve."""
    share_of_sm: int | None = None
    """A CTA asks for one of so many equal parts of the SM's shared memory where it needs less, so that no more CTAs
    fit."""
    registers: int = 32
    """Registers per thread."""
    cluster: int = 1
    """CTAs of a cluster, which begin together on SMs of one GPC and reach each other's shared memory. The grid holds
    whole clusters."""
    idle_warps: int = 0
    """Warps per CTA that exist (and cost registers) but do nothing."""
    footprint_bytes: int | None = None
    """Distinct bytes that the launch reads: hits in the part beyond half of L2 have a longer way."""
    turn: int = 1
    """Tiles after which every role does the same again: more than 1 where roles take turns, as two groups of consumers
    do."""
    head: int = 0
    """The first tiles of each CTA in which some op is left out, as the first rows of a strip store nothing."""
    tail: int = 0
    """The last ones, as those that load nothing for a later tile."""

    @property
    def warps(self) -> int:
        """Warps of one CTA."""
        return sum(role.warps for role in self.roles) + self.idle_warps

    @property
    def threads(self) -> int:
        """Threads of one CTA (the block size)."""
        return WARP_SIZE * self.warps

    def tiles_of(self, cta: int) -> int:
        """Tiles that CTA number ``cta`` processes."""
        if isinstance(self.tiles_per_cta, int):
            return self.tiles_per_cta
        return self.tiles_per_cta[cta]

    @property
    def equal_tiles(self) -> int | None:
        """Tiles of each CTA where one count is stated for all, else None."""
        return self.tiles_per_cta if isinstance(self.tiles_per_cta, int) else None

    @property
    def fewest_tiles(self) -> int:
        """Tiles of the CTA that has the fewest."""
        return self.tiles_per_cta if isinstance(self.tiles_per_cta, int) else min(self.tiles_per_cta)

    @property
    def most_tiles(self) -> int:
        """Tiles of the CTA that has the most."""
        return self.tiles_per_cta if isinstance(self.tiles_per_cta, int) else max(self.tiles_per_cta)

    @property
    def total_tiles(self) -> int:
        """Tiles of all CTAs together."""
        return self.grid * self.tiles_per_cta if isinstance(self.tiles_per_cta, int) else sum(self.tiles_per_cta)

    def sample(self, role: Role) -> list[Op]:
        """Ops of ``role`` that show every kind it does: those of two tiles, or of one turn if that is more.

        Between the first and the last tiles, where some are left out.
        """
        return list(role.body(self.sampled_tiles))

    @property
    def sampled_tiles(self) -> int:
        """Tiles of the CTA of which `sample` has the ops."""
        return self.head + max(2, self.turn) + self.tail

    def one_turn(self, role: Role) -> list[Op]:
        """Ops of ``role`` in a CTA of one turn of tiles; of those alone where others leave some out."""
        begin, end = self.head, self.head + self.turn
        ops = role.body(end + self.tail)
        return [op for op in ops if begin <= op.tile < end] if self.head or self.tail else list(ops)

    def roles_on(self, ring: str, kind: type[Op] | UnionType) -> list[str]:
        """Names of the roles with such an op on a ring."""
        return [
            role.name
            for role in self.roles
            if any(isinstance(op, kind) and op.ring == ring for op in self.sample(role))
        ]

    def shortened(self, tiles: int) -> KernelProgram:
        """The same kernel with so many ``tiles`` less in every CTA."""
        return self._with_each(lambda count: count - tiles)

    def repeated(self, times: int) -> KernelProgram:
        """The same kernel with ``times`` as many tiles in every CTA."""
        return self._with_each(lambda count: times * count)

    def _with_each(self, change: Callable[[int], int]) -> KernelProgram:
        if isinstance(self.tiles_per_cta, int):
            return replace(self, tiles_per_cta=change(self.tiles_per_cta))
        return replace(self, tiles_per_cta=tuple(change(count) for count in self.tiles_per_cta))

    def resized(self, *, grid: int | None = None, tiles_per_cta: int | tuple[int, ...] | None = None) -> KernelProgram:
        """The same kernel with another grid or tile count."""
        return replace(
            self,
            grid=self.grid if grid is None else grid,
            tiles_per_cta=self.tiles_per_cta if tiles_per_cta is None else tiles_per_cta,
        )
