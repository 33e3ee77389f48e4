"""CTAs of a cluster work on the same tiles, which L2 gives once for all: by multicast, or through DSMEM.

Each CTA asks for an equal part of a tile, which all get (``.multicast::cluster``), so that L2 gives every tile once for
the cluster. That pays where L2 is what the CTAs wait for. It ties them together: a stage is free when the slowest of
them has read it, and clusters of four and eight leave SMs empty, because a GPC's do not come out even. Without it each
CTA asks for whole tiles, of which L2 has what another one of the cluster has asked for before. Or each keeps the part
that it has asked for, and the others load it from there (distributed shared memory): a ring takes a fraction of the
shared memory, but the network between SMs is slower than L2 and its latency many times that of own shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.program import BULK_UNIT
from gpusim.scenario.technique import Kind, Lever, Technique, param


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    cluster: int = param(4, "CTAs of a cluster, which work on the same tiles", choices=(1, 2, 4, 8))
    copies: str = param(
        "multicast",
        "each asks for a part of each tile for all, or for whole tiles of its own, or keeps a part that its peers load",
        Kind.COPIES,
        choices=("multicast", "own", "peers"),
        lever=Lever("copies", plain={"own": "copies of each one's own are", "peers": "loads from each other are"}),
    )
    tile_bytes: int = param(16384, "bytes of one tile", Kind.TILE, ge=2048, le=65536, multiple_of=16, unit="bytes")
    stages: int = param(4, "tiles in the ring", Kind.STAGES, ge=1, le=8)
    fma_per_element: int = param(4, "dependent FMAs on each float", ge=0, le=256)
    consumer_warps: int = param(8, "computing warps per CTA, besides one producer warp", Kind.CONSUMERS, ge=2, le=16)
    ctas_per_sm: int = param(1, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=4)
    grid: int = param(120, "CTAs in the grid", Kind.GRID, ge=1, le=65535)
    tiles_per_cta: int = param(512, "tiles each CTA processes", Kind.TURNS, ge=1, le=1_000_000)

    def __post_init__(self) -> None:
        if self.grid % self.cluster:
            raise ValueError(f"a grid of {self.grid} has no whole clusters of {self.cluster}: use a multiple of it")
        unit = BULK_UNIT * self.cluster
        if (self.multicast or self.peers) and self.tile_bytes % unit:
            raise ValueError(f"{self.tile_bytes} bytes are no {self.cluster} equal parts: use a multiple of {unit}")

    @property
    def multicast(self) -> bool:
        """Whether a copy reaches all CTAs of the cluster."""
        return self.copies == "multicast" and self.cluster > 1

    @property
    def peers(self) -> bool:
        """Whether the CTAs of the cluster load from each other's shared memory."""
        return self.copies == "peers" and self.cluster > 1

    @property
    def stage_bytes(self) -> int:
        """Bytes of a tile in the ring of each CTA."""
        return self.tile_bytes // self.cluster if self.peers else self.tile_bytes


TECHNIQUE = Technique(
    name="cluster_multicast",
    title="Tiles of a cluster, by multicast or DSMEM",
    params=Params,
    model="realkernels.cluster_multicast.model:build",
    launcher="realkernels.cluster_multicast.launch:build",
    folder=Path(__file__).parent,
    summary="Gets tiles that several CTAs need from L2 once; pays where L2 is the limit, costs SMs and independence.",
)
