"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`, and where it finds its data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import ceil, inf, log1p
from statistics import fmean

from gpusim.hardware.memory.access import GRANULE_BYTES, LINE_BYTES, SECTOR_BYTES
from gpusim.program import WARP_SIZE, Compute, KernelProgram, Load, Mix, Op, Role, Store
from realkernels._parts.l2 import MIXED_SWEEPS, random_hit, sweep_hit
from realkernels._parts.tile_loop import EPILOGUE, PROLOGUE
from realkernels.strided_access import Params

REGISTERS = 32
"""Upper bound on the registers per thread, over all parameters."""
PLACE_OTHER = {"strided": 4, "random": 13}
"""Per load: the place (a mask; or three folds, two products, shift, mask), the 64-bit address, the next index."""
TURN_OTHER = 3
"""Per turn: counter, comparison, branch."""
MOST_WARMING = 256
"""Turns that are spelled out one by one while L2 fills; a slower start is spread over the whole run."""
SETTLED_SWEEPS = 3 * MIXED_SWEEPS
"""Sweeps after which hits of more than L2 holds no longer change."""
NEGLIGIBLE = 0.01
"""Fraction of hits that makes no difference."""


def build(params: Params) -> KernelProgram:
    """The program of one launch; its tiles are the turns from which on hits no longer change."""
    warming, steady = hits(params)
    return KernelProgram(
        name="strided_access",
        grid=params.grid,
        tiles_per_cta=params.tiles_per_cta - len(warming),
        roles=(Role("worker", params.warps, partial(_worker, params, warming, steady)),),
        registers=REGISTERS,
        footprint_bytes=footprint(params),
    )


def footprint(params: Params) -> int:
    """Bytes of L2 that the lines of the array would take, as far as they are touched."""
    step = params.stride * params.vector_bytes
    return (
        params.footprint_bytes // step * min(step, LINE_BYTES)
        if params.pattern == "strided"
        else params.footprint_bytes
    )


def touched(params: Params) -> tuple[int, int]:
    """(sectors, lines) that one warp instruction touches; random lanes share none but by rare chance."""
    if params.pattern == "random":
        return WARP_SIZE, WARP_SIZE
    span = WARP_SIZE * params.stride * params.vector_bytes
    return min(WARP_SIZE, span // SECTOR_BYTES), min(WARP_SIZE, span // LINE_BYTES)


def hits(params: Params) -> tuple[tuple[float, ...], float]:
    """Fraction of hits in L2 of the first turns, one by one, and from then on. The first finds none: L2 is cold."""
    rise = _random_hits if params.pattern == "random" else _strided_hits
    settled, hit = rise(params, WARP_SIZE * params.warps * params.loads * params.grid)
    last = params.tiles_per_cta - 1
    warming = min(settled, last)
    if warming <= MOST_WARMING:
        return tuple(hit(turn) for turn in range(warming)), hit(last)
    return (), fmean(hit(last * i // MOST_WARMING) for i in range(MOST_WARMING + 1))


def _strided_hits(params: Params, per_turn: int) -> tuple[int, Callable[[int], float]]:
    """A sweep goes once through the array and then begins again at the same vectors; it hits what is still there.

    L2 keeps whole lines, however few of their sectors were wanted.
    """
    step = params.stride * params.vector_bytes
    sweep = params.footprint_bytes // step
    distance = sweep * min(step, LINE_BYTES)
    sweeps = params.tiles_per_cta * per_turn / sweep

    def hit(turn: int) -> float:
        first = min(max(sweep / per_turn - turn, 0.0), 1.0)
        return sweep_hit(distance, turn * per_turn / sweep) * (1.0 - first)

    if sweeps <= 1.0 or sweep_hit(distance, sweeps) < NEGLIGIBLE:
        return 0, lambda _turn: 0.0
    same = sweep_hit(distance, 1.0) == sweep_hit(distance, inf)
    return ceil(sweep / per_turn * (1.0 if same else SETTLED_SWEEPS)), hit


def _random_hits(params: Params, per_turn: int) -> tuple[int, Callable[[int], float]]:
    """What was fetched so far is hit by chance."""
    fetched = per_turn * GRANULE_BYTES

    def hit(turn: int) -> float:
        return random_hit(params.footprint_bytes, fetched * (turn + 0.5))

    filled = -params.footprint_bytes * log1p(-random_hit(params.footprint_bytes))
    return ceil(filled / fetched), hit


def _worker(params: Params, warming: tuple[float, ...], steady: float, tiles: int) -> Iterator[Op]:
    words = params.vector_bytes // 4
    mix = Mix(ffma=float(params.loads * words), setup=TURN_OTHER, ilp=float(words))
    random = params.pattern == "random"

    def turn(hit: float, tile: int) -> Iterator[Op]:
        yield Load(
            params.tile_bytes,
            width=params.vector_bytes,
            other=PLACE_OTHER[params.pattern] * params.loads,
            l2_hit=hit,
            stride=0 if random else params.stride * params.vector_bytes,
            scatter=params.vector_bytes if random else 0,
            tile=tile,
        )
        yield Compute(mix, tile=tile)

    yield Compute(PROLOGUE)
    for hit in warming:
        yield from turn(hit, -1)
    for tile in range(tiles):
        yield from turn(steady, tile)
    yield Compute(EPILOGUE)
    yield Store(4 * params.warps, width=4)
