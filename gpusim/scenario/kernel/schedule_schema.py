"""When an op of a role's list runs, and the types that several ops share.

An op in ``per_tile`` belongs to the tile of the iteration. With ``ahead: n`` it runs n tiles earlier, as software
pipelining does: the first n tiles are issued before the loop starts, none past the end.
``ahead: full`` is the deepest that never touches the stage in use, stages − 1. A role that
takes turns with others says so itself, with ``every`` and ``offset`` (`schema`); an op with them runs for some
of the tiles only, as what stands at the end of an item of several. ``skip_first`` and ``skip_last`` leave an op out at
the beginning and at the end of a CTA, as an ``if`` on the loop's counter does.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from gpusim.scenario.fields import ByteCount, Count, Model, Number, whole_number

__all__ = ["MAX_EVERY", "MAX_SKIP", "Amount", "Fraction", "ByPartOfRole", "Schedule", "Size", "Width"]

MAX_AHEAD = 64
MAX_EVERY = 1024
MAX_SKIP = 1024


def _ahead(value: Any) -> Any:
    if value == "full":
        return value
    number = whole_number(value)
    if not 0 <= number <= MAX_AHEAD:
        raise ValueError(f'expected 0 to {MAX_AHEAD} or "full"')
    return number


Ahead = Annotated[int | Literal["full"], BeforeValidator(_ahead, json_schema_input_type=int | Literal["full"])]
Size = Annotated[ByteCount, Field(gt=0)]
"""Bytes, at least one."""
Width = Literal[4, 8, 16]
"""Bytes that one lane moves with one instruction."""
Fraction = Annotated[Number, Field(ge=0, le=1)]
Amount = Annotated[Number, Field(ge=0, le=1e9)]
"""Instructions of one warp, or cycles."""


class Schedule(Model):
    """When an op runs: with its iteration, ahead of it, or for one given tile."""

    ahead: Ahead = 0
    """Tiles ahead of the iteration (per_tile only); "full" is the ring's stages - 1."""
    tile: Annotated[Count, Field(ge=-64, le=1_000_000)] | None = None
    """Tile index in prologue and epilogue; negative counts from the last tile."""
    every: Annotated[Count, Field(ge=1, le=MAX_EVERY)] = 1
    """The op runs for every n-th tile of the CTA only (per_tile, no op that fills or frees a stage)."""
    offset: Annotated[Count, Field(ge=0, lt=MAX_EVERY)] = 0
    """The first of these tiles, below `every`: with `every: 8` 7 for the last one of each eight."""
    skip_first: Annotated[Count, Field(ge=0, le=MAX_SKIP)] = 0
    """The op is left out in the first so many tiles of the CTA (where `every` is allowed)."""
    skip_last: Annotated[Count, Field(ge=0, le=MAX_SKIP)] = 0
    """The op is left out in the last so many tiles of the CTA (where `every` is allowed, and without `ahead`)."""

    @property
    def first_tile(self) -> int:
        """The first tile for which it runs."""
        return self.skip_first + (self.offset - self.skip_first) % self.every


class ByPartOfRole(Schedule):
    """An op that a branch may keep some warps of the role from."""

    warps: Annotated[Count, Field(ge=1, le=32)] | None = None
    """How many warps execute it, the first ones of the role; the others go on. Its bytes are then theirs. Default: all
    of them."""
