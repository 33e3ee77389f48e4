"""Three kernels over an array, one behind the other, against one that does the same at once.

y = keep * softmax(scale * x), row by row. Separate kernels read and write everything three times; the fused one reads
and writes it once, because a row stays in registers between the steps. Where memory is the limit that is a third of
the time. Small arrays stay in L2 between the kernels and gain less from it; there two launches and two gaps are saved.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param

VARIANTS = ("fused", "separate")
FLOATS_PER_WARP = 128
"""Floats that a warp loads with one instruction."""
WARPS_PER_SM = (64, 64, 64, 48, 40, 40, 32, 32)
"""Warps that an SM has registers for, by float4 per thread: 1, 2, 3 …"""
LARGEST = 2 << 30


@dataclass(frozen=True)
class Params:
    """One configuration; constants of ``kernel.cu`` are taken from here."""

    variant: str = param(
        "fused",
        "one kernel, or three: scale, softmax, scale",
        choices=VARIANTS,
        lever=Lever("variant", plain={"separate": "separate kernels are"}, fuses=True),
    )
    row_floats: int = param(2048, "floats of a row, 1 to 8 float4 per thread", ge=256, le=8192, multiple_of=256)
    warps: int = param(8, "warps per CTA; a CTA has one row at a time", Kind.WARPS, choices=(2, 4, 8, 16))
    ctas_per_sm: int = param(4, "CTAs resident on an SM, enforced by padding shared memory", Kind.PER_SM, ge=1, le=16)
    grid: int = param(528, "CTAs of a kernel", Kind.GRID, ge=1, le=8_388_608)
    rows_per_cta: int = param(64, "rows each CTA treats, one after the other", Kind.TURNS, ge=1, le=1_000_000)

    def __post_init__(self) -> None:
        each, rest = divmod(self.row_floats, FLOATS_PER_WARP * self.warps)
        if rest or not 1 <= each <= len(WARPS_PER_SM):
            least = FLOATS_PER_WARP * self.warps
            raise ValueError(
                f"a row of {self.row_floats} floats cannot be dealt to {self.warps} warps: use a multiple of {least} "
                f"up to {len(WARPS_PER_SM) * least}, or another number of warps"
            )
        room = WARPS_PER_SM[each - 1]
        if self.ctas_per_sm * self.warps > room:
            raise ValueError(
                f"{self.ctas_per_sm} CTAs of {self.warps} warps are {self.ctas_per_sm * self.warps} warps, but with "
                f"{4 * each} floats per thread an SM has registers for {room}: use fewer CTAs per SM or shorter rows"
            )
        if self.array_bytes > LARGEST:
            raise ValueError(f"{self.array_bytes} bytes are more than {LARGEST}: use fewer rows")

    @property
    def vectors(self) -> int:
        """float4 of a row that each thread holds."""
        return self.row_floats // (FLOATS_PER_WARP * self.warps)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return 4 * self.row_floats

    @property
    def array_bytes(self) -> int:
        """Bytes of x, of y, and of each result between them."""
        return self.grid * self.rows_per_cta * self.row_bytes


TECHNIQUE = Technique(
    name="fused_softmax_scale",
    title="Fused softmax and scales",
    params=Params,
    model="realkernels.fused_softmax_scale.model:build",
    launcher="realkernels.fused_softmax_scale.launch:build",
    folder=Path(__file__).parent,
    summary="Reads and writes once instead of three times: 3 x faster once arrays leave L2, less while launches rule.",
)
