"""One resident grid that loops over work items, against one CTA per item.

A CTA per item pays for its start, for filling its ring and for draining it, item after item; a CTA
that stays asks for the first tiles of its next item while it still computes on the last ones. That
shows while items are short. Both leave SMs idle at the end when items do not divide evenly:
staying resident does not help against the tail, and the block scheduler hands out single
items more evenly than a fixed share does when their durations differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param

MODES = ("persistent", "one_per_item")


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    mode: str = param(
        "persistent",
        "a grid that stays, or one CTA per item",
        choices=MODES,
        lever=Lever("mode", plain={"one_per_item": "one CTA per item is"}),
    )
    items: int = param(2112, "work items", ge=1, le=65535)
    tiles_per_item: int = param(8, "tiles of one item", Kind.TURNS, ge=1, le=4096)
    tile_bytes: int = param(16384, "bytes of one tile", Kind.TILE, ge=2048, le=65536, multiple_of=16, unit="bytes")
    stages: int = param(3, "tiles in the ring", Kind.STAGES, ge=2, le=8)
    fma_per_element: int = param(16, "dependent FMAs on each float", ge=0, le=256)
    warps: int = param(8, "warps per CTA; all of them copy and compute", Kind.WARPS, ge=2, le=16)
    ctas_per_sm: int = param(2, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=4)
    resident: int = param(264, "CTAs of the grid that stays", Kind.RESIDENT, ge=1, le=65535)

    @property
    def grid(self) -> int:
        """CTAs launched."""
        return min(self.resident, self.items) if self.mode == "persistent" else self.items

    @property
    def tiles_per_cta(self) -> int:
        """Tiles of a CTA, at most."""
        return -(-self.items // self.grid) * self.tiles_per_item


TECHNIQUE = Technique(
    name="persistent",
    title="Persistent grid",
    params=Params,
    model="realkernels.persistent.model:build",
    launcher="realkernels.persistent.launch:build",
    folder=Path(__file__).parent,
    summary="Saves the start and the pipeline fill of every item but the first; worth it for short items only.",
)
