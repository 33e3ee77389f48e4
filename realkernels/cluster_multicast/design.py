"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from math import exp, log

from realkernels._harness.design import ISSUE_PER_S, LAUNCH_S, Design
from realkernels._parts.hopper import SMS
from realkernels.cluster_multicast import TECHNIQUE, Params

UNIT = 128
"""Bytes that make equal parts for any cluster."""
BYTES_PER_S = 8e12
"""To all CTAs; only to choose sizes with."""


SPREAD_PEERS, TRACED_PEERS = 40, 4
"""Of the points and timelines, how many more with parts that peers load."""
TO_PEERS = 3000
"""Candidates before those."""


class ClusterDesign(Design):
    """Clusters of each size, with and without multicast, and with parts that peers load; bytes come from L2."""

    def points(self) -> list[Params]:
        """Those of each kind of copies; what peers load comes behind the others."""
        from_peers = filter(self.is_measurable, self._peers())
        return [*super().points(), *islice(from_peers, SPREAD_PEERS)]

    def _peers(self) -> Iterator[Params]:
        for params in self.candidates(skip=TO_PEERS):
            yield replace(params, copies="peers")

    def estimate_s(self, params: Params) -> float:
        """Roughly how long a run takes, in seconds: bytes from L2, or instructions."""
        moved = self.moved_bytes(params)
        instructions = moved / 512 * (4 * params.fma_per_element + 12)
        busy = min(1.0, params.grid / (SMS * params.ctas_per_sm))
        return LAUNCH_S + max(moved / BYTES_PER_S, instructions / (ISSUE_PER_S * busy))

    def candidate(self, u: Sequence[float], largest: int) -> Params:
        """The configuration at ``u`` of the unit cube, sized by its run time. Raises ValueError if there is none."""
        ctas = 1 + int(3 * u[3])
        one = Params(
            cluster=(2, 4, 8, 2, 4, 8, 2, 4)[int(8 * u[4])],
            copies=("multicast", "multicast", "own")[int(3 * u[7])],
            tile_bytes=round(exp(log(2048) + u[0] * (log(largest) - log(2048))) / UNIT) * UNIT,
            stages=1 + int(8 * u[5]),
            fma_per_element=round(exp(u[1] * log(65)) - 1),
            consumer_warps=2 + int(15 * u[2]),
            ctas_per_sm=ctas,
            grid=(SMS * ctas // 8 * 8, 120 * ctas, 264, 240 * ctas, 96)[int(5 * u[6] * 7 % 5)],
            tiles_per_cta=1,
        )
        target = exp(log(45e-6) + u[6] * (log(3e-3) - log(45e-6)))
        return replace(one, tiles_per_cta=max(4, round((target - LAUNCH_S) / (self.estimate_s(one) - LAUNCH_S))))

    def groups(self) -> list[list[Params]]:
        """Clusters of each size with both kinds of copies; stages of some of them."""
        large = Params(tile_bytes=24576, fma_per_element=1)
        kinds = [(1, "own"), *product((2, 4, 8), ("multicast", "own", "peers"))]
        return [
            *(
                [Params(cluster=cluster, copies=copies, fma_per_element=fma, grid=240) for cluster, copies in kinds]
                for fma in (0, 4, 16)
            ),
            *([replace(large, cluster=cluster, stages=stages) for stages in (1, 2, 3, 4, 6)] for cluster in (2, 8)),
            [replace(large, cluster=4, copies="peers", stages=stages) for stages in (1, 2, 3, 4, 6, 8)],
        ]

    def timelines(self) -> list[Params]:
        """Small ones of one wave, of each kind of copies."""
        from_peers = [
            Params(
                cluster=(2, 4, 8, 4)[index],
                copies="peers",
                tile_bytes=(8192, 16384, 24576, 32768)[index],
                stages=(3, 1, 4, 2)[index],
                fma_per_element=(2, 8, 24, 4)[index],
                tiles_per_cta=40,
            )
            for index in range(TRACED_PEERS)
        ]
        return [
            Params(
                cluster=(2, 4, 8, 4)[index % 4],
                copies="own" if index % 5 == 4 else "multicast",
                tile_bytes=(8192, 16384, 24576)[index % 3],
                stages=(3, 1, 4, 2)[index % 4],
                fma_per_element=(2, 8, 24)[index % 3],
                tiles_per_cta=40,
            )
            for index in range(self.traced - TRACED_PEERS)
        ] + from_peers


DESIGN = ClusterDesign(TECHNIQUE, spread=64, traced=12)
