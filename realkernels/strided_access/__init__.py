"""Streaming reads with neighbouring, strided and random addresses: sectors decide, not bytes.

Memory moves sectors of 32 bytes. A warp whose lanes have neighbouring addresses uses all of each sector it touches;
with a stride it touches up to one sector per lane and leaves the rest of it; random lanes have a sector and a line
each. Wider vectors use more of a sector. An array that fits L2 is read from memory only once, and then the number of
lines per access decides. Coalesce first; where that cannot be done, make what each lane reads at least a sector wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Technique, param
from realkernels._parts.hopper import CTAS_PER_SM, WARPS_PER_SM

PATTERNS = ("strided", "random")
STRIDES = (1, 2, 4, 8, 16, 32, 64)
SMALLEST, LARGEST = 8 << 20, 2 << 30


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    pattern: str = param("strided", "how the addresses of a warp's lanes lie", choices=PATTERNS)
    stride: int = param(1, "vectors from lane to lane; 1: neighbours", choices=STRIDES)
    vector_bytes: int = param(16, "bytes a lane reads with one instruction", Kind.VECTOR, choices=(4, 8, 16))
    warps: int = param(8, "warps per CTA", Kind.WARPS, ge=1, le=32)
    loads: int = param(4, "loads in flight per thread", Kind.LOADS, choices=(1, 2, 4))
    grid: int = param(
        528, "CTAs in the grid; below 132 × 64 / warps it decides how many an SM gets", Kind.GRID, ge=1, le=65535
    )
    tiles_per_cta: int = param(64, "turns of the loop in each CTA", Kind.TURNS, ge=1, le=1_000_000)
    footprint_bytes: int = param(1 << 30, "bytes of the array, a power of two", ge=SMALLEST, le=LARGEST, unit="bytes")

    def __post_init__(self) -> None:
        if self.footprint_bytes & (self.footprint_bytes - 1):
            nearest = 1 << (self.footprint_bytes.bit_length() - 1)
            raise ValueError(
                f"a footprint of {self.footprint_bytes} bytes is no power of two: addresses are masked by it, so use "
                f"{nearest} or {2 * nearest}"
            )
        if self.pattern == "random" and self.stride != 1:
            raise ValueError(f"random addresses have no stride, and {self.stride} was given: leave it at 1")

    @property
    def ctas_per_sm(self) -> int:
        """CTAs that an SM has room for. No shared memory is taken to have fewer, since it would be taken from L1."""
        return min(WARPS_PER_SM // self.warps, CTAS_PER_SM)

    @property
    def tile_bytes(self) -> int:
        """Bytes that a CTA uses of what it reads in one turn."""
        return 32 * self.warps * self.loads * self.vector_bytes

    @property
    def fma_per_element(self) -> int:
        """None: the kernel only adds up."""
        return 0


TECHNIQUE = Technique(
    name="strided_access",
    title="Strided and random access",
    params=Params,
    model="realkernels.strided_access.model:build",
    launcher="realkernels.strided_access.launch:build",
    folder=Path(__file__).parent,
    summary="Sectors per request set the bandwidth that is used; wide vectors and neighbouring lanes waste none.",
)
