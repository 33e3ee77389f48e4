"""Software double buffering: the next tile is loaded into registers while this one is computed on.

The loads are ordinary ld.global, issued before the computation and first looked at after it, so
that their latency passes meanwhile: one CTA per SM can overlap without any asynchronous copy.
The price is registers, four per thread and vector in flight, and the copy through them: every
byte is still written by st.shared between two barriers at which all warps meet. It pays with few
CTAs per SM; tiles of more than 16 vectors per thread do not fit into the registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Technique, param

MOST_VECTORS = 16
"""16-byte vectors that a thread may hold: 64 registers."""


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    tile_bytes: int = param(16384, "bytes of one tile", Kind.TILE, ge=2048, le=65536, multiple_of=16, unit="bytes")
    fma_per_element: int = param(16, "dependent FMAs on each float", ge=0, le=256)
    warps: int = param(8, "warps per CTA; all of them load and compute", Kind.WARPS, ge=2, le=16)
    ctas_per_sm: int = param(2, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=4)
    grid: int = param(264, "CTAs in the grid", Kind.GRID, ge=1, le=65535)
    tiles_per_cta: int = param(64, "tiles each CTA processes", Kind.TURNS, ge=1, le=1_000_000)

    def __post_init__(self) -> None:
        held = -(-self.tile_bytes // (512 * self.warps))
        if held > MOST_VECTORS:
            raise ValueError(
                f"a tile of {self.tile_bytes} bytes means {held} vectors per thread with {self.warps} warps; at most "
                f"{MOST_VECTORS} fit into the registers: use a smaller tile or more warps"
            )


TECHNIQUE = Technique(
    name="register_prefetch",
    title="Register prefetch",
    params=Params,
    model="realkernels.register_prefetch.model:build",
    launcher="realkernels.register_prefetch.launch:build",
    folder=Path(__file__).parent,
    summary="Hides loads behind computing with few CTAs per SM and no async copies; costs registers and two barriers.",
)
