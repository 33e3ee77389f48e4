"""Attention forward on the tensor cores: products, exponentials between them, and who hides which.

Each CTA has 64 queries of one head per warpgroup and goes through the keys and values of that head, which a producer
brings into a ring of each by bulk copies. A turn is two products with a softmax between them that needs the first
and feeds the second, so that a warpgroup by itself leaves the tensor cores idle while it has exponentials. Three
things fill that time: other warpgroups that happen to be elsewhere in their turn, two warpgroups that take turns by
named barriers (``ping_pong``), and a warpgroup's own products of the tile before (``pending``). Operands are FP16 and
lie packed tile by tile, as the core matrices of wgmma without a swizzle want them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param
from realkernels._parts.registers import MOST_SPLIT, registers_at_launch, registers_behind_split

QUERIES_PER_WARPGROUP = 64
PRODUCER_WARPS = 4
"""A warpgroup, the unit of setmaxnreg; one of its threads works."""
PRODUCER_REGISTERS = 24
OTHER_REGISTERS = 28
"""Of a multiplying thread, besides scores, probabilities and sums of the output."""


@dataclass(frozen=True)
class Params:
    """One configuration of the kernel; constants of ``kernel.cu`` are taken from here."""

    head: int = param(128, "numbers of a query, a key or a value", choices=(64, 128))
    tile_keys: int = param(128, "keys of a tile, and values", choices=(64, 128), lever=Lever("keys of a tile"))
    warpgroups: int = param(2, "multiplying warpgroups per CTA, 64 queries each", ge=1, le=3)
    stages: int = param(2, "tiles in the ring of keys, and in that of values", Kind.STAGES, ge=1, le=4)
    pending: int = param(
        1,
        "values of so many tiles may be multiplied while there are exponentials",
        ge=0,
        le=1,
        lever=Lever("products under way"),
    )
    ping_pong: bool = param(False, "two warpgroups take turns to ask for products", lever=Lever("ping-pong"))
    ctas_per_sm: int = param(1, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=3)
    query_tiles: int = param(32, "CTAs of a head, which are next to each other in the grid", ge=1, le=4096)
    heads: int = param(33, "heads times sequences", ge=1, le=4096)
    tiles_per_cta: int = param(32, "tiles of keys and values that a CTA goes through", Kind.TURNS, ge=2, le=100_000)

    def __post_init__(self) -> None:
        if self.ping_pong and self.warpgroups != 2:
            raise ValueError(f"ping_pong is for two warpgroups, not {self.warpgroups}: use warpgroups: 2")
        needed = self.tile_keys * 3 // 4 + self.head // 2 + OTHER_REGISTERS
        if needed > self.consumer_registers:
            raise ValueError(
                f"tile_keys {self.tile_keys} and head {self.head} take {needed} registers per thread, "
                f"{self.ctas_per_sm} CTAs of {self.warpgroups} warpgroups leave {self.consumer_registers}: use fewer "
                "warpgroups, fewer ctas_per_sm or a smaller tile_keys"
            )

    @property
    def grid(self) -> int:
        """CTAs of the launch."""
        return self.query_tiles * self.heads

    @property
    def warps(self) -> int:
        """Warps of a CTA."""
        return PRODUCER_WARPS + 4 * self.warpgroups

    @property
    def queries(self) -> int:
        """Queries of one CTA."""
        return QUERIES_PER_WARPGROUP * self.warpgroups

    @property
    def query_bytes(self) -> int:
        """Bytes of the queries of one CTA."""
        return 2 * self.queries * self.head

    @property
    def key_bytes(self) -> int:
        """Bytes of a tile of keys, and of one of values."""
        return 2 * self.tile_keys * self.head

    @property
    def tile_bytes(self) -> int:
        """Bytes of a tile of keys and its values."""
        return 2 * self.key_bytes

    @property
    def launch_registers(self) -> int:
        """Registers per thread that let ``ctas_per_sm`` CTAs onto an SM: the compiler's bound, and what CTAs get."""
        return registers_at_launch(self.warps, self.ctas_per_sm, MOST_SPLIT)

    @property
    def consumer_registers(self) -> int:
        """Registers of a multiplying thread once the producers have given theirs away."""
        return registers_behind_split(self.launch_registers, self.warps, PRODUCER_WARPS, PRODUCER_REGISTERS)


TECHNIQUE = Technique(
    name="attention",
    title="Attention on tensor cores",
    params=Params,
    model="realkernels.attention.model:build",
    launcher="realkernels.attention.launch:build",
    folder=Path(__file__).parent,
    summary="Exponentials hide under products: another warpgroup's, or the warpgroup's own of the tile before.",
)
