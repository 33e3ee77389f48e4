"""Streaming reads with more and more resident warps: how many loads in flight memory needs.

Little's law: bandwidth = bytes in flight / latency, until memory saturates. Bytes in flight are
resident warps × loads in flight per thread × 512, so four loads per thread reach the limit with
a quarter of the warps. What keeps warps away (registers, shared memory or the block size)
makes no difference to that; it only decides which counts can be had.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.program import WARP_SIZE
from gpusim.program.registers import MOST_REGISTERS, REGISTER_UNIT, allocated_registers
from gpusim.scenario.technique import Kind, Technique, param
from realkernels._parts.hopper import REGISTERS_PER_SCHEDULER, SCHEDULERS, WARPS_PER_SM

LIMITERS = ("registers", "shared_memory", "block")
MOST_IN_STEPS = MOST_REGISTERS // REGISTER_UNIT * REGISTER_UNIT
"""Registers per thread, as far as launches give them out in whole steps."""
FEWEST_REGISTERS = 40
"""Registers per thread from which on the kernel can be given as many as wanted."""


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    limiter: str = param("shared_memory", "what lets no more CTAs onto an SM", choices=LIMITERS)
    warps: int = param(8, "warps per CTA", Kind.WARPS, ge=4, le=32, multiple_of=4)
    ctas_per_sm: int = param(4, "CTAs resident on an SM; with limiter block, 64 // warps", Kind.PER_SM, ge=1, le=16)
    loads: int = param(2, "16-byte loads in flight per thread", Kind.LOADS, ge=1, le=4)
    grid: int = param(528, "CTAs in the grid", Kind.GRID, ge=1, le=65535)
    tiles_per_cta: int = param(64, "turns of the loop in each CTA", Kind.TURNS, ge=1, le=1_000_000)

    def __post_init__(self) -> None:
        if self.ctas_per_sm * self.warps > WARPS_PER_SM:
            raise ValueError(
                f"{self.ctas_per_sm} CTAs of {self.warps} warps are {self.ctas_per_sm * self.warps} warps, but an SM "
                f"holds {WARPS_PER_SM}: use fewer warps or fewer CTAs per SM"
            )
        if self.limiter == "block" and self.ctas_per_sm != WARPS_PER_SM // self.warps:
            raise ValueError(
                f"blocks of {self.warps} warps limit themselves to {WARPS_PER_SM // self.warps} CTAs per SM, not "
                f"{self.ctas_per_sm}: set ctas_per_sm to {WARPS_PER_SM // self.warps} or choose another limiter"
            )
        if self.limiter == "registers" and not registers_for(self.warps, self.ctas_per_sm):
            raise ValueError(
                f"no register count lets exactly {self.ctas_per_sm} CTAs of {self.warps} warps onto an SM: use another "
                "number, or the limiter shared_memory"
            )

    @property
    def tile_bytes(self) -> int:
        """Bytes a CTA reads in one turn."""
        return 512 * self.warps * self.loads

    @property
    def fma_per_element(self) -> int:
        """None: the kernel only adds up."""
        return 0


def ctas_with(registers: int, warps: int) -> int:
    """CTAs of ``warps`` warps (a multiple of 4) that the registers of an SM admit."""
    per_warp = WARP_SIZE * allocated_registers(registers)
    return min(REGISTERS_PER_SCHEDULER // per_warp // (warps // SCHEDULERS), WARPS_PER_SM // warps)


def registers_for(warps: int, ctas: int) -> int:
    """The most registers per thread with which exactly ``ctas`` CTAs fit on an SM, or 0."""
    candidates = range(FEWEST_REGISTERS, MOST_IN_STEPS + 1, REGISTER_UNIT)
    return max((count for count in candidates if ctas_with(count, warps) == ctas), default=0)


TECHNIQUE = Technique(
    name="occupancy_sweep",
    title="Occupancy sweep",
    params=Params,
    model="realkernels.occupancy_sweep.model:build",
    launcher="realkernels.occupancy_sweep.launch:build",
    folder=Path(__file__).parent,
    summary="More warps help reads until enough bytes are in flight; more loads per thread need fewer warps.",
)
