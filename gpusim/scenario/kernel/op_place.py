"""Where in a spelled-out kernel an op of a role stands that was found by its number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice

from gpusim.scenario.kernel.op_lists import as_run
from gpusim.scenario.kernel.schema import PARTS, SpelledKernel
from gpusim.scenario.kernel.spec import Step, TileLoop, tile_loop
from gpusim.scenario.yaml_source import Place

__all__ = ["op_place"]


def op_place(kernel: SpelledKernel, role: str, at: tuple[int, int]) -> Place:
    """The path below ``kernel`` of the op ``at`` (tiles of the CTA, number among the role's ops); empty if none is."""
    tiles, number = at
    spec = kernel.roles[role]
    paths = [(part, *path) for part in PARTS for path, _, _ in as_run(getattr(spec, part))]
    found = next(islice(_numbered(tile_loop(kernel, spec))(tiles), number, None), None)
    return () if found is None else ("roles", role, *paths[found])


def _numbered(loop: TileLoop) -> Callable[[int], object]:
    """The same loop, which yields for each op its step's number in the order of the file."""
    before, parts = 0, []
    for steps in (loop.prologue, loop.before_loop, loop.per_tile, loop.epilogue):
        parts.append(tuple(_named(step, number) for number, step in enumerate(steps, start=before)))
        before += len(steps)
    return TileLoop(*parts, every=loop.every, offset=loop.offset)


def _named(step: Step, number: int) -> Step:
    make = partial(_number, number)
    return replace(step, make=make, instead=make if step.instead else None)


def _number(number: int, _tile: int) -> int:
    return number
