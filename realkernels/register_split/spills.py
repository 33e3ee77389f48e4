"""What a consumer of ``kernel.cu`` keeps in local memory, where L1 holds it, and how long it waits for it.

The counts of local loads and stores (LDL, STL) are those of the compiled kernel; tests compare them with the SASS.
"""

from __future__ import annotations

from functools import lru_cache

from gpusim.program import WARP_SIZE, Mix
from realkernels._parts.hopper import SMS
from realkernels._parts.l1 import MISSED_CYCLES, cyclic_hit
from realkernels._parts.tile_loop import FMA_UNROLL, shares
from realkernels.register_split import Params

FIRST_SPILLED, SPILLED_PER_REGISTER = 10.0, 1.25
SPILLED_FMA = 2.0
STEEP, SPILLED_PER_REGISTER_LATER = 48, 1.125
"""Sums swapped for each vector when there are as many of them as registers (`FIRST_SPILLED`), and for every
one more up to `STEEP`, and from there on: the compiler also needs registers to swap through."""
LOCAL_BYTES = 4
"""A spilled value of a thread."""
EXPOSED, MANY_LOADS, AT_ONCE, STATE_EXPOSED = 4, 84, 12, 3
"""Local loads that a warp waits for, others being on their way meanwhile: for each vector, but of many each twelfth;
and per tile. By the stall counts of 58 compilations, if every load takes longer than what is done before its use."""
FMA_CYCLES = 4.0
"""Latency of a dependent FMA."""
STATE = {
    "uniform": {"single": (5, 2), "straight": (7, 4), "rolled": (9, 5)},
    "split": {"single": (4, 1), "straight": (6, 3), "rolled": (2, 0)},
}
"""Local loads and stores per tile of a consumer that spills, by the kind of code: stage, parity, addresses."""
STATE_ROLLED_ONLY = 3, 1
"""The same where only the count of rolled FMAs has no register."""


def spills(params: Params) -> bool:
    """Whether anything is kept in local memory."""
    rolled_only = params.mode == "uniform" and params.fma_per_element > FMA_UNROLL
    return excess(params) >= (-16 if rolled_only else -8)


def swapped(params: Params) -> int:
    """Sums loaded from and stored to local memory for each vector."""
    missing = excess(params)
    if missing < 0:
        # Short by less than a step of registers: only what the FMAs need besides is missing.
        return int(SPILLED_FMA) if missing == -8 and params.fma_per_element else 0
    first = FIRST_SPILLED + SPILLED_FMA * (params.fma_per_element > 0)
    later = max(missing - STEEP, 0)
    return round(first + SPILLED_PER_REGISTER * min(missing, STEEP) + SPILLED_PER_REGISTER_LATER * later)


def vector_loads(params: Params) -> int:
    """Local loads (LDL) for each vector: the sums swapped in, the end of the stage, the count of rolled FMAs."""
    constants = (params.stages > 1) + (params.fma_per_element > FMA_UNROLL)
    return swapped(params) + (constants if excess(params) >= -8 else 0)


def tile_local(params: Params) -> tuple[int, int]:
    """Local loads and stores (LDL, STL) per tile around the vector loop."""
    missing, rolled = excess(params), params.fma_per_element > FMA_UNROLL
    if missing < -8:
        return STATE_ROLLED_ONLY if spills(params) else (0, 0)
    if params.mode == "split":
        # Where a stage begins is a product or a shift.
        single, shifted = params.stages == 1, params.tile_bytes & (params.tile_bytes - 1) == 0
        kind = "rolled" if rolled and (missing >= 0 or not (single or shifted)) else "single" if single else "straight"
    else:
        kind = "single" if params.stages == 1 else "rolled" if rolled else "straight"
    return STATE[params.mode][kind]


def spilled_bytes(params: Params) -> int:
    """What all resident threads with vectors keep in local memory."""
    return LOCAL_BYTES * (swapped(params) + tile_local(params)[1]) * WARP_SIZE * spilled_warps(params)


def spilled_warps(params: Params) -> int:
    """Resident warps with vectors."""
    ctas = min(params.grid, SMS * params.ctas_per_sm)
    return ctas * sum(part.warps for part in shares(params.tile_bytes, params.consumer_warps) if part.iterations)


@lru_cache(maxsize=256)
def local_hit(params: Params) -> float:
    """Fraction of local loads that L1 serves: the CTAs of an SM fill it with shared memory."""
    return cyclic_hit(LOCAL_BYTES * local_values(params) * WARP_SIZE * spilled_warps(params) / min(params.grid, SMS))


def local_values(params: Params) -> int:
    """Values of a thread in local memory: what is loaded for each vector, the state of a tile, a loop's bound."""
    return vector_loads(params) + tile_local(params)[1] + 1


def waited_for(params: Params) -> float:
    """Local loads for each vector that a warp waits for."""
    loads = vector_loads(params)
    return min(EXPOSED, loads) if loads <= MANY_LOADS else loads / AT_ONCE


def local_waits(params: Params, iterations: float, *, first: bool = True) -> Mix:
    """What a warp waits for local loads, which come behind the stores before them; FMAs are computed meanwhile."""
    loads, state = vector_loads(params), tile_local(params)[0] if first else 0
    exposed = waited_for(params)
    batches = iterations * exposed + min(STATE_EXPOSED, state)
    if not batches:
        return Mix()
    hidden = iterations * params.fma_per_element * FMA_CYCLES
    late = iterations * _missed(params, loads, exposed) + _missed(params, state, STATE_EXPOSED)
    count = float(iterations * loads + state)
    # An instruction that waits for as long as misses take beyond the loads' own latency.
    return Mix(
        lds=count, lds_bytes=LOCAL_BYTES, loads_in_flight=count / batches, setup=1.0, alone=max(late - hidden, 1.0)
    )


def _missed(params: Params, loads: float, exposed: float) -> float:
    """Cycles by which ``loads`` come later than from L1, of which a warp waits for so many: one of each may miss."""
    exposed = min(exposed, loads)
    return exposed * (1.0 - local_hit(params) ** (loads / exposed)) * MISSED_CYCLES if loads else 0.0


def excess(params: Params) -> int:
    """Sums beyond the registers of a consumer thread; both are multiples of eight."""
    return params.accumulators - params.consumer_registers
