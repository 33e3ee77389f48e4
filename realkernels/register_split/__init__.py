"""A producer gives its registers to the consumers, which hold many running sums (``setmaxnreg``).

At launch every warp of a CTA gets the same number of registers, as many as the resident CTAs leave.
A consumer with more live values than that spills: it loads and stores them in local memory for each
vector of a tile. A producer that only asks for bulk copies needs two dozen registers, so its warpgroup
can hand the rest on. It pays where the accumulators of the consumers just do not fit: the part
of the file that a producer warpgroup frees is one in three with one consumer warpgroup, one in nine with
four. Where they fit anyway, or are far too many, nothing is gained.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param
from realkernels._parts.hopper import WARPS_PER_SM
from realkernels._parts.registers import registers_at_launch, registers_behind_split

MODES = ("uniform", "split")
PRODUCER_WARPS = 4
"""A warpgroup, the unit of setmaxnreg; one of its threads works."""
FEWEST = 40
"""Registers per thread from which on the code itself fits."""


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    mode: str = param(
        "split", "uniform: registers stay as launched; split: setmaxnreg moves them", choices=MODES, lever=Lever("mode")
    )
    accumulators: int = param(80, "live float sums per consumer thread", ge=16, le=160, multiple_of=16)
    producer_registers: int = param(
        24,
        "registers the producers keep; only in mode split",
        choices=(24, 32, 40),
        lever=Lever("registers of the producers"),
    )
    tile_bytes: int = param(16384, "bytes of one tile", Kind.TILE, ge=2048, le=65536, multiple_of=16, unit="bytes")
    stages: int = param(3, "tiles in the ring", Kind.STAGES, ge=1, le=8)
    fma_per_element: int = param(0, "dependent FMAs on each float before it is added", ge=0, le=256)
    consumer_warps: int = param(
        8, "computing warps per CTA, whole warpgroups", Kind.CONSUMERS, ge=4, le=16, multiple_of=4
    )
    ctas_per_sm: int = param(2, "CTAs resident on an SM; they share its registers", Kind.PER_SM, ge=1, le=4)
    grid: int = param(264, "CTAs in the grid", Kind.GRID, ge=1, le=65535)
    tiles_per_cta: int = param(64, "tiles each CTA processes", Kind.TURNS, ge=1, le=1_000_000)

    def __post_init__(self) -> None:
        if self.ctas_per_sm * self.warps > WARPS_PER_SM:
            raise ValueError(
                f"{self.ctas_per_sm} CTAs of {self.warps} warps are {self.ctas_per_sm * self.warps} warps, but an SM "
                f"holds {WARPS_PER_SM}: use fewer consumer_warps or fewer ctas_per_sm"
            )
        if self.launch_registers < FEWEST:
            raise ValueError(
                f"{self.ctas_per_sm} CTAs of {self.warps} warps leave {self.launch_registers} registers per thread, "
                f"the kernel needs {FEWEST}: use fewer consumer_warps or fewer ctas_per_sm"
            )
        if self.mode == "split" and self.split_registers <= self.launch_registers:
            raise ValueError(
                f"mode split leaves consumers {self.split_registers} registers of {self.launch_registers} at launch: "
                "use more ctas_per_sm, more consumer_warps, or mode uniform"
            )

    @property
    def warps(self) -> int:
        """Warps of a CTA."""
        return PRODUCER_WARPS + self.consumer_warps

    @property
    def launch_registers(self) -> int:
        """Registers per thread that let ``ctas_per_sm`` CTAs onto an SM: the compiler's bound, and what CTAs get."""
        return registers_at_launch(self.warps, self.ctas_per_sm)

    @property
    def split_registers(self) -> int:
        """Registers per consumer thread once the producers have given theirs away."""
        return registers_behind_split(self.launch_registers, self.warps, PRODUCER_WARPS, self.producer_registers)

    @property
    def consumer_registers(self) -> int:
        """Registers that a consumer thread may use."""
        return self.split_registers if self.mode == "split" else self.launch_registers


TECHNIQUE = Technique(
    name="register_split",
    title="Register split",
    params=Params,
    model="realkernels.register_split.model:build",
    launcher="realkernels.register_split.launch:build",
    folder=Path(__file__).parent,
    summary="Saves consumers with many accumulators from spilling, as long as what the producers give up is enough.",
)
