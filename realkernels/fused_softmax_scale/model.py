"""The launches of one configuration, with each kernel spelled out down to its warps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gpusim.program import Compute, KernelProgram, Load, Mix, Op, Role, Store, SyncThreads
from gpusim.program.host import Buffer, HostProgram, Launch, Stream
from realkernels._parts.host_programs import one_thread
from realkernels._parts.l2 import again_hit
from realkernels.fused_softmax_scale import WARPS_PER_SM, Params

STEPS = {"fused": ("fused",), "separate": ("scale", "softmax", "dropout")}
"""Kernels of a variant in the order in which they run. The middle one and the fused one are the same code."""
SOFTMAX = ("fused", "softmax")
BUFFER, STREAM = "arrays", "main"

REGISTERS = (32, 32, 32, 40, 48, 48, 64, 64)
"""Upper bound on the registers per thread, by float4 per thread: 1, 2, 3 …"""
SCALE_START, SOFTMAX_START = 20, 32
"""Before the first row: thread number, addresses, kernel arguments."""
SCALE_OTHER, SOFTMAX_OTHER = 7, 11
"""Per row: two addresses, counter, comparison, branch; the tables' addresses."""
WARP_STEPS = 5
"""Shuffles by which the 32 lanes of a warp come to one number."""


def build(params: Params) -> HostProgram:
    """The program of one configuration: kernels behind each other in one stream.

    The arrays lie one behind the other: x, results between the kernels if there are some, y.
    """
    size, names = params.array_bytes, STEPS[params.variant]
    return one_thread(
        "fused_softmax_scale",
        [Launch(kernel(params, name), STREAM, BUFFER, i * size, size, i) for i, name in enumerate(names)],
        streams=(Stream(STREAM, "non_blocking"),),
        buffers=(Buffer(BUFFER, (len(names) + 1) * size, "device"),),
    )


def kernel(params: Params, name: str) -> KernelProgram:
    """One of `STEPS`."""
    body = _softmax if name in SOFTMAX else _scale
    return KernelProgram(
        name=name,
        grid=params.grid,
        tiles_per_cta=params.rows_per_cta,
        roles=(Role("worker", params.warps, partial(body, params, hit(params, name))),),
        shared_bytes=shared_bytes(params),
        share_of_sm=params.ctas_per_sm,
        registers=REGISTERS[params.vectors - 1],
    )


def hit(params: Params, name: str) -> float:
    """Fraction of what it reads and writes that a kernel finds in L2.

    Between two passes over an array lie what is left of it and of its neighbour in the first, and as much in the
    second: two arrays. The first kernel finds what the run before has left, all arrays ago.
    """
    names = STEPS[params.variant]
    arrays = len(names) + 1 if name == names[0] else 2
    return again_hit(arrays * params.array_bytes)


def table_bytes(params: Params) -> int:
    """Shared memory of the exchange: a maximum and a sum of each warp, twice."""
    return 16 * params.warps


def shared_bytes(params: Params) -> int:
    """Dynamic shared memory of a CTA of each kernel: the exchange and padding."""
    return table_bytes(params)


def min_ctas(params: Params) -> int:
    """CTAs for which the compiler must leave registers."""
    return WARPS_PER_SM[params.vectors - 1] // params.warps


def scale_mix(params: Params) -> Mix:
    """One row: a multiplication of each float."""
    return Mix(ffma=4.0 * params.vectors, setup=SCALE_OTHER, ilp=4.0)


def softmax_mixes(params: Params) -> tuple[tuple[Mix, ...], tuple[Mix, ...]]:
    """One row, before and after the barrier: what is done on each float, and trees whose steps wait for each other.

    FADD, FMUL and FMNMX count as FFMA. A shuffle takes the way of a shared-memory load, and as long.
    """
    floats, steps = 4.0 * params.vectors, (params.warps - 1).bit_length()
    # The maximum of four chains, then of their ends, then of the lanes; each float's exponential; the same for sums.
    each = Mix(ffma=floats - 4 + 2 * floats, mufu=floats, ilp=4.0)
    trees = Mix(ffma=2 * (3 + WARP_STEPS) + 1, lds=2 * WARP_STEPS, sts=1, ilp=1.0, lds_bytes=4, sts_bytes=4)
    # All warps' maxima and sums, brought to the same maximum; the factor of the row.
    exchange = Mix(ffma=2 * steps + 5, lds=1 + 2 * steps, mufu=3, ilp=1.0, lds_bytes=4)
    return (each, trees), (exchange, Mix(ffma=floats, setup=SOFTMAX_OTHER, ilp=4.0))


def _scale(params: Params, hit: float, rows: int) -> Iterator[Op]:
    mix = scale_mix(params)
    yield Compute(Mix(setup=SCALE_START))
    for row in range(rows):
        yield Load(params.row_bytes, l2_hit=hit, tile=row)
        yield Compute(mix, tile=row)
        yield Store(params.row_bytes, l2_hit=hit, tile=row)


def _softmax(params: Params, hit: float, rows: int) -> Iterator[Op]:
    before, after = softmax_mixes(params)
    yield Compute(Mix(setup=SOFTMAX_START))
    for row in range(rows):
        yield Load(params.row_bytes, l2_hit=hit, tile=row)
        for mix in before:
            yield Compute(mix, tile=row)
        yield SyncThreads(tile=row)
        for mix in after:
            yield Compute(mix, tile=row)
        yield Store(params.row_bytes, l2_hit=hit, tile=row)
