"""The instruction stream of ``kernel.cu`` in the words of `gpusim.program`.

All warps run the same code: what only some of them have to do is predicated, so that the others spend the issue slot
as well, and wait at the barrier for those who do it. Hence one role.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpusim.hardware.memory.access import LINE_BYTES, SECTOR_BYTES
from gpusim.program import (
    WARP_SIZE,
    CommitGroup,
    Compute,
    CpAsync,
    KernelProgram,
    Load,
    Mix,
    Op,
    Ring,
    Role,
    Store,
    StoreShared,
    SyncThreads,
    WaitGroup,
    WaitLoads,
)
from realkernels._parts.tile_loop import PLACEHOLDERS
from realkernels.conv1d_async import Params

TILE = "tile"
WEIGHT_BYTES, HALO_ROOM = 128, 64
"""Shared memory for the weights, of which a whole line is loaded, and for the floats on either side of the tile."""
APART = 64
"""What divides the distance between the tile in global memory, on a line, and in shared memory, behind these."""

FETCH_OTHER = 21
"""Per warp before the tile is there: indices, addresses, who has which duty."""
TRUE_HALO_OTHER = 9
"""Per warp with a true halo: indices held inside the signal, and their addresses."""
OFFSET_REACH, BASE_OTHER = 0x1000, 2
"""Bytes of global addresses that LDGSTS reaches from one base, and the instructions for each further base."""
FETCH_WAITS = 8
"""Of these, those that the next instruction waits for, by the stall counts in the machine code."""
WEIGHTS_WAVEFRONTS = 2
"""Of four weights that all lanes load (realkernels.microbench lds, sharing)."""
OUTPUT_OTHER = 4
"""Per warp: where the output goes."""
LOOP_ENTRY_OTHER = 5
LOOP_OTHER = 7
"""With several outputs per thread: entry into their loop; and per output the next addresses, comparison, branch, and
what the compiler moves to keep the old address of the store."""
REGISTERS = {19: 32, 27: 40, 31: 48}
"""By the weights that are held at the same time, at most."""
LOADS_AHEAD = {
    11: (5.5, 7.0), 13: (6.5, 4.5), 15: (5.0, 4.7), 17: (4.25, 2.75), 19: (2.1, 1.1), 21: (7.0, 5.0), 23: (5.75, 4.25),
    25: (2.3, 15.7), 27: (2.1, 0.2), 29: (7.25, 5.75), 31: (6.2, 4.4),
}  # fmt: skip
"""With several outputs per thread, by the kernel's points: loads of an output for each time that the warp waits for
some, and other instructions before that. The compiler holds all weights in as few registers as it can, and has few left
to load ahead; up to nine points it loads all of an output at once."""
LOADS_AHEAD_ALONE = {
    11: (11.0, 0.0), 13: (6.5, 5.5), 15: (7.5, 5.5), 17: (8.5, 5.5), 19: (9.5, 4.5), 21: (10.5, 4.5), 23: (7.7, 6.7),
    25: (8.3, 6.7), 27: (9.0, 6.7), 29: (9.7, 6.0), 31: (7.8, 7.8),
}  # fmt: skip
"""The same of a CTA of one warp, for which the compiler takes eight registers more."""
REGISTERS_ALONE = 8
OTHER_TOLERANCE = 10
"""Instructions per warp by which the sum of these may differ from one compilation."""
PARAMETERS = 3.0
"""LDC, of 2 to 5 that there are in kernels with other options."""
LEFT_OUT_CONFLICTS = 4
"""Cycles per warp that registers of one bank cost at most."""


def build(params: Params) -> KernelProgram:
    """The program of one launch."""
    return KernelProgram(
        name="conv1d_async",
        grid=params.grid,
        tiles_per_cta=1,
        roles=(Role("worker", params.warps, partial(_worker, params)),),
        rings=(Ring(TILE, 1, params.tile_bytes + 2 * HALO_ROOM),),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=registers(params),
    )


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA: weights, tile and halo, an arrival barrier (instrumented build)."""
    return WEIGHT_BYTES + params.tile_bytes + 2 * HALO_ROOM + 8


def registers(params: Params) -> int:
    """Upper bound on the registers per thread; in a loop over outputs all weights are held."""
    held = params.kernel_points if params.outputs > 1 else 0
    alone = REGISTERS_ALONE if held and params.warps == 1 else 0
    return alone + next(count for most, count in REGISTERS.items() if held <= most)


def copies(params: Params) -> int:
    """Copies of one thread, or of one that has most of them."""
    return -(-params.tile_bytes // (params.vector * WARP_SIZE * params.warps))


def halo_bytes(params: Params) -> int:
    """Bytes of the two neighbouring tiles that a CTA asks for, in whole sectors."""
    return 2 * SECTOR_BYTES * -(-4 * params.radius // SECTOR_BYTES) if params.halo == "true" else 0


def output_mix(params: Params) -> Mix:
    """Instructions of one warp from the tile in shared memory to sums in registers, the stores left out.

    The weights, four at a time, and for each output ``kernel_points`` loads, as far ahead as registers allow, and a
    chain of as many FFMAs.
    """
    outputs, weights = params.outputs, -(-params.kernel_points // 4)
    taps = params.kernel_points * outputs
    lds = taps + weights
    in_flight, to_use = lds / outputs, 0.0
    if outputs > 1:
        known = LOADS_AHEAD if params.warps > 1 else LOADS_AHEAD_ALONE
        in_flight, to_use = known.get(params.kernel_points, (in_flight, to_use))
    return Mix(
        ffma=float(taps),
        lds=float(lds),
        interleaved=float(LOOP_OTHER * outputs if outputs > 1 else 0),
        setup=float(OUTPUT_OTHER + (LOOP_ENTRY_OTHER if outputs > 1 else 0)),
        ilp=1.0,
        loads_in_flight=in_flight,
        load_to_use=to_use,
        lds_bytes=4,
        lds_wavefronts=(taps + WEIGHTS_WAVEFRONTS * weights) / lds,
    )


def _worker(params: Params, tiles: int) -> Iterator[Op]:
    for tile in range(tiles):
        yield from (_fetch_ahead if params.asynchronous else _fetch_in_turn)(params, tile)
        yield SyncThreads(tile=tile)
        yield Compute(output_mix(params), tile=tile, reads=TILE)
        yield Store(params.tile_bytes, width=4, tile=tile)


def _fetch_ahead(params: Params, tile: int) -> Iterator[Op]:
    """The tile by cp.async, the weights meanwhile."""
    yield Compute(_fetch_mix(params), tile=tile)
    skipped = PLACEHOLDERS + _skipped(params, params.tile_bytes, params.vector, copies(params))
    yield CpAsync(TILE, params.tile_bytes, width=params.vector, masked=skipped, align=APART, tile=tile)
    if halo := halo_bytes(params):
        # Their own CTAs ask for these sectors at about the same time, so that they come from L2.
        yield CpAsync(TILE, halo, width=4, masked=_skipped(params, halo, 4, 2), l2_hit=1.0, tile=tile)
    yield CommitGroup(tile=tile)
    yield from _weights(params, tile)
    yield WaitGroup(0, tile=tile)
    yield from _repeat_ends(params, tile)


def _fetch_in_turn(params: Params, tile: int) -> Iterator[Op]:
    """The tile through registers, then the weights."""
    width = params.vector
    yield Compute(_fetch_mix(params), tile=tile)
    skipped = _skipped(params, params.tile_bytes, width, copies(params))
    yield Load(params.tile_bytes, width=width, masked=skipped, wait=False, align=LINE_BYTES, tile=tile)
    halo = halo_bytes(params)
    if halo:
        yield Load(halo, width=4, masked=_skipped(params, halo, 4, 2), l2_hit=1.0, wait=False, tile=tile)
    yield WaitLoads(tile=tile)
    yield StoreShared(params.tile_bytes, width=width, masked=skipped, ring=TILE, tile=tile)
    if halo:
        yield StoreShared(halo, width=4, masked=_skipped(params, halo, 4, 2), ring=TILE, tile=tile)
    yield from _repeat_ends(params, tile)
    yield SyncThreads(tile=tile)
    yield from _weights(params, tile)


def _fetch_mix(params: Params) -> Mix:
    """Instructions of one warp before the tile is there, its copies left out."""
    true_halo = TRUE_HALO_OTHER if params.halo == "true" else 0
    stride = params.vector * WARP_SIZE * params.warps
    bases = (copies(params) - 1) * stride // OFFSET_REACH if params.asynchronous else 0
    other = FETCH_OTHER + true_halo + BASE_OTHER * bases
    return Mix(setup=float(FETCH_WAITS), interleaved=other - FETCH_WAITS, ldc=PARAMETERS)


def _skipped(params: Params, amount: int, width: int, slots: int) -> float:
    """Of ``slots`` instructions that every warp issues, those that move nothing, in the mean over the warps."""
    return slots - amount / (width * WARP_SIZE * params.warps)


def _weights(params: Params, tile: int) -> Iterator[Op]:
    """One line, the same for all CTAs and so in L2, loaded and put down by one warp."""
    skipped = _skipped(params, WEIGHT_BYTES, 4, 1)
    yield Load(WEIGHT_BYTES, width=4, masked=skipped, l2_hit=1.0, tile=tile)
    yield StoreShared(WEIGHT_BYTES, width=4, masked=skipped, tile=tile)


def _repeat_ends(params: Params, tile: int) -> Iterator[Op]:
    """Halo ``copy``: the warps that copied the tile's two ends read them back and fill the floats beyond."""
    if params.halo == "copy":
        # Either end is one load and one store; the others are slots to a warp that has just one of the ends.
        yield Compute(Mix(lds=1, sts=1, masked=2, lds_bytes=4, sts_bytes=4), tile=tile)
