"""Kernels as they are found everywhere, each spelled out in a scenario file and measured: no technique, no parameters.

They show how far a prediction is off for a kernel that the model was not built around. ``kernels.cu`` has the
kernels, ``atomics.cu`` and ``shared_atomics.cu`` those with atomics on global and on shared memory, ``clusters.cu``
those whose CTAs work together, ``borders.cu`` those whose rows begin off a sector, ``scenarios`` what their SASS says
in a scenario's words, ``recorded`` what `measure` found.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from realkernels._parts.hopper import SMS

FOLDER = Path(__file__).parent
KERNELS, ATOMICS, SHARED_ATOMICS, CLUSTERS, BORDERS = (
    FOLDER / f"{name}.cu" for name in ("kernels", "atomics", "shared_atomics", "clusters", "borders")
)
SCENARIOS, RECORDED = FOLDER / "scenarios", FOLDER / "recorded"
TOTALS = {
    KERNELS: "totals.json", ATOMICS: "atomics.json", SHARED_ATOMICS: "shared_atomics.json", CLUSTERS: "clusters.json",
    BORDERS: "borders.json",
}  # fmt: skip
"""The recording of the kernels of each source."""


@dataclass(frozen=True)
class Case:
    """One launch: the scenario ``file``, and what of it is set otherwise, as --set would."""

    file: str
    ctas_per_sm: int | None = None
    source: Path = KERNELS

    @property
    def name(self) -> str:
        """The file, and the CTAs per SM where they vary."""
        return self.file if self.ctas_per_sm is None else f"{self.file}, {self.ctas_per_sm} CTAs per SM"

    @property
    def overrides(self) -> dict[str, int]:
        """For `gpusim.with_overrides`."""
        if self.ctas_per_sm is None:
            return {}
        return {"kernel.ctas_per_sm": self.ctas_per_sm, "kernel.grid": SMS * self.ctas_per_sm}


CASES = (
    Case("matmul_32x32"), Case("matmul_16x16"), Case("sgemm_64x64"), Case("sgemm_128x128"), Case("nbody"),
    Case("triad"), Case("dot"), Case("layer_norm"), Case("transpose"), Case("stencil_17"), Case("gemv"),
    *(Case("exponentials", ctas) for ctas in (1, 2, 4, 6)),
    *(Case("polynomial", ctas) for ctas in (1, 2, 4)),
    *(Case("in_place", ctas) for ctas in (1, 2, 4, 6)),
    *(Case(file, source=ATOMICS) for file in ("histogram", "split_k", "compact")),
    *(
        Case(file, source=SHARED_ATOMICS)
        for file in ("byte_histogram", "weighted_histogram", "digit_counts", "cluster_sums")
    ),
    *(Case(file, source=BORDERS) for file in ("pad_rows", "five_point", "odd_rows")),
    *(Case(file, source=CLUSTERS) for file in ("long_rows", "reduce_scatter", "all_to_all", "halo")),
)  # fmt: skip
