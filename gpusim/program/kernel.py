"""A kernel as roles, rings and resources: the input of the hardware model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from gpusim.program.ops import Op

__all__ = ["WARP_SIZE", "Barrier", "KernelProgram", "Ring", "Role"]

WARP_SIZE = 32


@dataclass(frozen=True, slots=True)
class Ring:
    """A circular buffer of ``stages`` × ``bytes`` in shared memory.

    Each stage has a full and an empty mbarrier. ``full_arrivals`` counts the arrivals
    (besides transaction bytes) that complete a full phase, ``empty_arrivals`` those that
    complete an empty phase: one per consumer warp. Rings that are guarded by
    ``__syncthreads`` alone leave the barriers unused.
    """

    name: str
    stages: int
    bytes: int
    full_arrivals: int = 1
    empty_arrivals: int = 1


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
    """One kernel launch.

    Units: ``shared_bytes`` per CTA (rings, barriers; without the driver's reserve), ``registers`` per thread.
    With ``share_of_sm`` a CTA asks for one of so many equal parts of the SM's shared memory where it needs less, so
    that no more CTAs fit. ``tiles_per_cta`` is one count for all CTAs or one count per CTA. Roles own warps in the
    order given: role 0 has warps 0…w0-1 and so on; warps of a CTA go to the schedulers in turn.

    ``idle_warps`` are warps that exist (and cost registers) but do nothing.
    ``footprint_bytes`` is the number of distinct bytes read: hits in the part beyond half of L2 have a longer way.
    ``turn`` is the number of tiles after which every role does the same again: more than 1 where roles
    take turns, as two groups of consumers do.
    """

    name: str
    grid: int
    tiles_per_cta: int | tuple[int, ...]
    roles: tuple[Role, ...]
    rings: tuple[Ring, ...] = ()
    barriers: tuple[Barrier, ...] = ()
    shared_bytes: int = 0
    share_of_sm: int | None = None
    registers: int = 32
    idle_warps: int = 0
    footprint_bytes: int | None = None
    turn: int = 1

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

    def ring(self, name: str) -> Ring:
        """The ring called ``name``. Raises KeyError if there is none."""
        for ring in self.rings:
            if ring.name == name:
                return ring
        raise KeyError(name)

    @property
    def fewest_tiles(self) -> int:
        """Tiles of the CTA that has the fewest."""
        return self.tiles_per_cta if isinstance(self.tiles_per_cta, int) else min(self.tiles_per_cta)

    @property
    def most_tiles(self) -> int:
        """Tiles of the CTA that has the most."""
        return self.tiles_per_cta if isinstance(self.tiles_per_cta, int) else max(self.tiles_per_cta)

    def shortened(self, tiles: int) -> KernelProgram:
        """The same kernel with so many ``tiles`` less in every CTA."""
        if isinstance(self.tiles_per_cta, int):
            return self.resized(tiles_per_cta=self.tiles_per_cta - tiles)
        return replace(self, tiles_per_cta=tuple(count - tiles for count in self.tiles_per_cta))

    def resized(self, *, grid: int | None = None, tiles_per_cta: int | tuple[int, ...] | None = None) -> KernelProgram:
        """The same kernel with another grid or tile count."""
        return replace(
            self,
            grid=self.grid if grid is None else grid,
            tiles_per_cta=self.tiles_per_cta if tiles_per_cta is None else tiles_per_cta,
        )
