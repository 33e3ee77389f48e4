"""``kernel:`` of a scenario file, a technique or a kernel spelled out, as pydantic models."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, TypeAdapter, field_serializer

from gpusim.errors import nearest
from gpusim.scenario.fields import ByteCount, Count, Model, Name
from gpusim.scenario.kernel.op_schema import OpStep

__all__ = [
    "MAX_CTAS_PER_SM", "MAX_STAGES", "MAX_TILES", "PARTS", "BarrierSpec", "RingSpec", "RoleSpec", "SpelledKernel",
    "TechniqueKernel", "TileTotal", "names_technique",
]  # fmt: skip

PARTS = ("prologue", "before_loop", "per_tile", "epilogue")
"""Op lists of a role, in the order in which they run."""

MAX_GRID = 2**31 - 1  # gridDim.x
MAX_GRID_YZ = 65535  # gridDim.y, gridDim.z
MAX_TILES = 10_000_000
MAX_TURN = 16
MAX_STAGES = 64
MAX_CTAS_PER_SM = 32  # as many as an SM has room for at most


class TechniqueKernel(Model):
    """An installed technique with its parameters."""

    technique: str
    """Name of a technique; `gpusim techniques` lists them."""
    params: dict[str, Any] = {}
    """Its parameters; those left out have their defaults."""


class RingSpec(Model):
    """A circular buffer in shared memory with a full and an empty mbarrier per stage."""

    stages: Annotated[Count, Field(ge=1, le=MAX_STAGES)]
    """Buffers of the ring; tile n is in stage n modulo stages."""
    bytes: Annotated[ByteCount, Field(gt=0, le=2**20)]
    """Bytes of one stage."""
    empty_arrivals: Annotated[Count, Field(ge=1, le=1024)] | None = None
    """Arrivals that free a stage; default: all warps of the roles that wait for the ring."""
    full_arrivals: Annotated[Count, Field(ge=1, le=1024)] | None = None
    """Arrivals that fill a stage; default: one per tma_load of a tile, else one per committing warp."""
    private: bool = False
    """Each warp fills (cp_async, store_shared) and reads a part of its own, and so waits for its own copies only."""


class RoleSpec(Model):
    """Warps of a CTA that run the same op list once per tile, or with `every` once per turn."""

    warps: Annotated[Count, Field(ge=1, le=32)]
    """Warps of a CTA that have this role."""
    every: Annotated[Count, Field(ge=1, le=MAX_TURN)] = 1
    """The role treats only every n-th tile, as groups of consumers do that take turns (ping-pong)."""
    offset: Annotated[Count, Field(ge=0, lt=MAX_TURN)] = 0
    """The first tile it treats, below `every`."""
    prologue: list[OpStep] = []
    """Ops done once, before the first tile."""
    before_loop: list[OpStep] = []
    """Ops done once, too, but behind those of `per_tile` that run `ahead` for the first tiles: what a kernel does
    between filling its ring and its loop, such as waiting for the kernel ahead of it (`grid_dependency_wait`)."""
    per_tile: list[OpStep]
    """Ops done for each tile."""
    epilogue: list[OpStep] = []
    """Ops done once, after the last tile."""


class BarrierSpec(Model):
    """An mbarrier outside any ring."""

    arrivals: Annotated[Count, Field(ge=1, le=1024)]
    """Arrivals that complete a phase."""
    stages: Annotated[Count, Field(ge=1, le=MAX_STAGES)] = 1
    """So many barriers, an array of which tile t has number t modulo that, as one for each stage of a ring; phases then
    go on every so many tiles."""


class TileTotal(Model):
    """So many tiles over all CTAs, as a grid-stride loop deals them out: the first CTAs may have one more."""

    total: Annotated[Count, Field(ge=1, le=MAX_TILES * MAX_GRID)]
    """Tiles of all CTAs together."""

    def dealt(self, grid: int) -> list[int]:
        """Tiles of each of ``grid`` CTAs; one number where all have as many."""
        each, more = divmod(self.total, grid)
        return [each + 1] * more + [each] * (grid - more) if more else [each]

    def most(self, grid: int) -> int:
        """Tiles of the first of ``grid`` CTAs, which has the most."""
        return -(-self.total // grid)


Side = Annotated[Count, Field(ge=1, le=MAX_GRID)]
Sides = Annotated[list[Side], Field(min_length=1, max_length=3)]
Tiles = Annotated[Count, Field(ge=0, le=MAX_TILES)]
TileList = Annotated[list[Tiles], Field(min_length=1)]
_SIDES, _TILE_LIST = TypeAdapter(list[Side]), TypeAdapter(TileList)


def _grid(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if not 1 <= len(value) <= 3:
        raise ValueError(f"is a list of {len(value)}; expected one to three numbers, as in dim3")
    sides = _SIDES.validate_python(value)
    for name, side in zip("yz", sides[1:], strict=False):
        if side > MAX_GRID_YZ:
            raise ValueError(f"has {side} CTAs in {name} (allowed: at most {MAX_GRID_YZ:,} in y and z)")
    return prod(sides)


def _tiles(value: Any) -> list[int] | TileTotal:
    # Not a union, which would tell a mistake of each of its forms and not of the one that was meant.
    if isinstance(value, dict | TileTotal):
        return TileTotal.model_validate(value)
    return _TILE_LIST.validate_python(value if isinstance(value, list) else [value])


class SpelledKernel(Model):
    """A kernel spelled out as rings and roles."""

    name: Name = "kernel"
    """As it is to be called in messages and on screen; a kernel of a host program is called as it is there."""
    grid: Annotated[Count, Field(ge=1, le=MAX_GRID), BeforeValidator(_grid, json_schema_input_type=Side | Sides)]
    """CTAs of the launch: their number, or one to three as in dim3, of which it is the product."""
    tiles_per_cta: Annotated[
        list[int] | TileTotal, PlainValidator(_tiles, json_schema_input_type=Tiles | TileList | TileTotal)
    ]
    """Tiles of each CTA: one number for all, a list with one number per CTA, or `{total: n}`: so many over all CTAs,
    as a grid-stride loop deals them out (the first CTAs have one more where it does not come out even)."""
    rings: dict[Name, RingSpec] = {}
    """Circular buffers in shared memory, by name."""
    roles: Annotated[dict[Name, RoleSpec], Field(min_length=1)]
    """What the warps do, by name of the role. The first has the first warps, and so on."""
    barriers: dict[Name, BarrierSpec] = {}
    """mbarriers outside rings, by name."""
    registers: Annotated[Count, Field(ge=1, le=1024)] = 32
    """Registers per thread, as nvcc -Xptxas -v prints."""
    shared_bytes: Annotated[ByteCount, Field(le=2**20)] = 0
    """Shared memory per CTA besides rings and barriers."""
    cluster: Literal[1, 2, 4, 8] = 1
    """CTAs of a cluster (__cluster_dims__); the grid has to be whole ones. They run on SMs of one GPC, and clusters
    of 4 and 8 leave some SMs of most GPCs without any."""
    idle_warps: Annotated[Count, Field(ge=0, le=32)] = 0
    """Warps that exist and do nothing."""
    ctas_per_sm: Annotated[Count, Field(ge=1, le=MAX_CTAS_PER_SM)] | None = None
    """At most so many resident CTAs, as padding of shared memory forces it; if fewer fit, fewer run."""
    l2_warm: bool = False
    """The data was left in L2 by an earlier launch. This only records it: what is found there say the ops (l2_hit)."""
    footprint: Annotated[ByteCount, Field(gt=0)] | None = None
    """Distinct bytes read; needed when l2_warm. Hits in the part beyond half of L2 have a longer way. Do not state it
    where CTAs find only what others have just read, as in a product of large matrices."""

    @field_serializer("tiles_per_cta")
    def _as_written(self, tiles: list[int] | TileTotal) -> int | list[int] | dict[str, int]:
        if isinstance(tiles, TileTotal):
            return {"total": tiles.total}
        return tiles[0] if len(tiles) == 1 else tiles

    @property
    def most_tiles(self) -> int:
        """Tiles of the CTA that has the most."""
        tiles = self.tiles_per_cta
        return tiles.most(self.grid) if isinstance(tiles, TileTotal) else max(tiles)


def names_technique(data: Any) -> bool:
    """Whether what stands under ``kernel`` is about a technique, the key of which may be misspelled."""
    if not isinstance(data, dict):
        return isinstance(data, TechniqueKernel)
    spelled = [name for name in SpelledKernel.model_fields if name in data]
    known = (*TechniqueKernel.model_fields, *SpelledKernel.model_fields)
    return "technique" in data or (not spelled and any(nearest(str(key), known) == "technique" for key in data))
