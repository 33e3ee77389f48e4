"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from realkernels._harness.design import BYTES_PER_S, LAUNCH_S, Design
from realkernels._parts.hopper import SMS, WARPS_PER_SM
from realkernels.strided_access import LARGEST, SMALLEST, STRIDES, TECHNIQUE, Params
from realkernels.strided_access.model import LINE_BYTES, SECTOR_BYTES, hits, touched

WIDTHS = (4, 8, 16)
WARPS = (1, 2, 4, 6, 8, 12, 16, 24, 32)
FULL = SMS * 8
"""Grid that fills all SMs with CTAs of 8 warps."""
LEAST_TOUCHED = 4 << 20
"""Bytes of sectors that a sweep touches at least: of fewer, L1 would hold too many."""
LATENCY_S = 0.9e-6
L2_BYTES_PER_S = {False: 8e12, True: 4.5e12}
"""With few lines per access, and with one line per lane."""
SLOWER = {32: 1.0, 64: 2.0, 128: 2.4}
"""Memory by bytes from lane to lane, against 32 and less; anything further, and random, is `SLOWEST`."""
SLOWEST = 3.5
"""Only to choose sizes with; no prediction uses these four."""


class StridedDesign(Design):
    """Every stride and width, random reads, and arrays that L2 holds or not."""

    def estimate_s(self, params: Params) -> float:
        """Roughly how long a run takes, in seconds."""
        sectors, lines = touched(params)
        a_turn = SECTOR_BYTES * sectors * params.warps * params.loads
        step = max(params.stride * params.vector_bytes, 32) if params.pattern == "strided" else LINE_BYTES * 8
        hit = hits(params)[1]
        slow = (1.0 - hit) * SLOWER.get(step, SLOWEST) / BYTES_PER_S
        seconds = params.grid * a_turn * max(slow, hit / L2_BYTES_PER_S[lines == sectors])
        return LAUNCH_S + params.tiles_per_cta * max(seconds, LATENCY_S)

    def candidate(self, u: Sequence[float], largest: int) -> Params:  # noqa: ARG002 - tiles are not sized in bytes
        """The configuration at ``u`` of the unit cube. Raises ValueError where too little of the array is touched."""
        pattern = "random" if u[4] < 0.25 else "strided"
        stride = 1 if pattern == "random" else STRIDES[int(len(STRIDES) * u[0])]
        warps = WARPS[int(len(WARPS) * u[2])]
        bits = SMALLEST.bit_length() - 1 + int((LARGEST // SMALLEST).bit_length() * u[6])
        ctas = 1 + int(min(WARPS_PER_SM // warps, 16) * u[3])
        params = Params(
            pattern, stride, WIDTHS[int(3 * u[1])], warps, (1, 2, 4)[int(3 * u[5])], SMS * ctas,
            footprint_bytes=1 << bits,
        )  # fmt: skip
        return self.sized(params, exp(log(60e-6) + u[7] * (log(1.2e-3) - log(60e-6))))

    def sized(self, params: Params, target_s: float) -> Params:
        """One wave of CTAs whose loop runs about ``target_s``."""
        least = LEAST_TOUCHED * max(params.stride * params.vector_bytes // SECTOR_BYTES, 1)
        if params.footprint_bytes < least:
            raise ValueError(f"too few sectors of {params.footprint_bytes} bytes are touched")
        values = vars(params)
        # Hits depend on the turns, and the turns on the hits.
        turns = 64
        for _ in range(4):
            seconds = self.estimate_s(Params(**values | {"tiles_per_cta": turns})) - LAUNCH_S
            turns = max(round(turns * (target_s - LAUNCH_S) / seconds), 4)
        return Params(**values | {"tiles_per_cta": turns})

    def groups(self) -> list[list[Params]]:
        """On SMs full of warps, all strides and random of each width; random reads of every footprint.

        And the narrowest reads with one and four loads in flight, from few warps to many.
        """
        found = []
        for width in WIDTHS:
            members = [Params("strided", stride, width, 8, 4, FULL, footprint_bytes=LARGEST) for stride in STRIDES]
            found.append([*members, Params("random", 1, width, 8, 4, FULL, footprint_bytes=LARGEST)])
        bits = range(SMALLEST.bit_length() - 1, LARGEST.bit_length())
        found.append([Params("random", 1, 16, 8, 4, FULL, footprint_bytes=1 << bit) for bit in bits])
        found.append([Params("strided", 1, 4, 4, loads, SMS * ctas) for loads in (1, 4) for ctas in (1, 2, 4, 8, 16)])
        groups = [[self.sized(member, 250e-6) for member in group] for group in found]
        return [[member for member in group if self.is_measurable(member)] for group in groups]

    def timelines(self) -> list[Params]:
        """None: there is no pipeline to see."""
        return []


DESIGN = StridedDesign(TECHNIQUE, spread=48, traced=0)
