"""A 1-D convolution whose tile is on its way while the small kernel is loaded: the smallest overlap there is.

One CTA per tile. Loaded one after the other, tile and weights cost two latencies and then a few cycles of
arithmetic (in a textbook's cycles 500 + 100 + 50); with the tile asked for by cp.async first, the weights'
latency disappears behind the tile's (500 + 50). That is all it can gain, since there is no second tile to fetch
meanwhile: on a real device other resident CTAs hide far more than that, and 16,384 floats
are over before the launch has been paid for.

Each output needs ``kernel_points`` // 2 neighbours on either side. ``halo`` says where a tile gets those beyond
its ends: ``true`` reads the neighbouring tiles' floats, which mostly lie in L2 because somebody else has just asked
for them; ``copy`` repeats the tile's own first and last float, which reads nothing but is another result.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.program import WARP_SIZE
from gpusim.scenario.technique import Kind, Lever, Technique, param
from realkernels._parts.hopper import WARPS_PER_SM

HALOS = ("copy", "true")
MOST_OUTPUTS = 16


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    floats: int = param(16384, "floats in the signal; one CTA per tile", ge=32, le=1 << 28)
    tile: int = param(
        256, "floats in one tile, a multiple of the threads of a CTA", Kind.TILE, ge=32, le=8192, multiple_of=32
    )
    kernel_points: int = param(5, "points of the convolution kernel, odd", ge=3, le=31)
    halo: str = param("copy", "what lies beyond a tile's ends", choices=HALOS)
    vector: int = param(4, "bytes that one lane copies at once", Kind.VECTOR, choices=(4, 8, 16))
    asynchronous: bool = param(
        True,
        "copy the tile by cp.async while the kernel is loaded, not before it",
        lever=Lever("asynchronous copies", plain={False: "synchronous copies are"}),
    )
    warps: int = param(8, "warps per CTA", Kind.WARPS, ge=1, le=16)
    ctas_per_sm: int = param(8, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=32)

    def __post_init__(self) -> None:
        threads = WARP_SIZE * self.warps
        if self.tile % threads or self.tile > MOST_OUTPUTS * threads:
            raise ValueError(
                f"a tile of {self.tile} floats cannot be dealt evenly to {self.warps} warps: use a multiple of "
                f"{threads} up to {MOST_OUTPUTS * threads}, or other warps"
            )
        if self.floats % self.tile:
            raise ValueError(
                f"{self.floats} floats are not a whole number of tiles of {self.tile}: use "
                f"{max(round(self.floats / self.tile), 1) * self.tile}"
            )
        if self.kernel_points % 2 == 0:
            raise ValueError(f"kernel_points is {self.kernel_points}: an odd number has a centre")
        if self.kernel_points // 2 > self.tile:
            raise ValueError(f"a kernel of {self.kernel_points} points reaches over more than one tile of {self.tile}")
        if self.ctas_per_sm * self.warps > WARPS_PER_SM:
            raise ValueError(
                f"{self.ctas_per_sm} CTAs of {self.warps} warps are {self.ctas_per_sm * self.warps} warps, but an SM "
                f"holds {WARPS_PER_SM}: use fewer warps or fewer CTAs per SM"
            )

    @property
    def radius(self) -> int:
        """Neighbours of an output on either side."""
        return self.kernel_points // 2

    @property
    def grid(self) -> int:
        """CTAs in the grid."""
        return self.floats // self.tile

    @property
    def tiles_per_cta(self) -> int:
        """One: what a CTA could fetch ahead there is not."""
        return 1

    @property
    def tile_bytes(self) -> int:
        """Bytes of one tile."""
        return 4 * self.tile

    @property
    def outputs(self) -> int:
        """Outputs of one thread."""
        return self.tile // (WARP_SIZE * self.warps)


TECHNIQUE = Technique(
    name="conv1d_async",
    title="1-D convolution, tile copied asynchronously",
    params=Params,
    model="realkernels.conv1d_async.model:build",
    launcher="realkernels.conv1d_async.launch:build",
    folder=Path(__file__).parent,
    summary="Hides the load of a small kernel behind the tile's copy; with other CTAs resident little is left to hide.",
)
