"""Which configurations to measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from realkernels._harness.design import LAUNCH_S, Design
from realkernels._parts.hopper import SMS
from realkernels.attention import TECHNIQUE, Params

FLOP_PER_S, BYTES_PER_S = 4.5e14, 5e12
"""Only to choose sizes with; no prediction uses these."""
LARGEST = 1 << 28
"""Halves of keys, of values, or of queries."""

LONG = Params()


class AttentionDesign(Design):
    """Products and exponentials; sized by the tiles of keys that a CTA goes through."""

    def moved_bytes(self, params: Params) -> int:
        """Bytes read, from wherever, and written."""
        return params.grid * (params.tiles_per_cta * params.tile_bytes + 3 * params.query_bytes)

    def estimate_s(self, params: Params) -> float:
        """Roughly how long a run takes, in seconds: products, or bytes from L2."""
        flop = 4 * params.grid * params.queries * params.head * params.tile_keys * params.tiles_per_cta
        return LAUNCH_S + max(flop / FLOP_PER_S, self.moved_bytes(params) / BYTES_PER_S)

    def candidate(self, u: Sequence[float], largest: int) -> Params:  # noqa: ARG002 - tiles are not sized in bytes
        """The configuration at ``u`` of the unit cube, sized by its run time. Raises ValueError if there is none."""
        warpgroups = 1 + int(3 * u[1])
        one = Params(
            head=(64, 128)[int(2 * u[0])],
            tile_keys=(64, 128)[int(2 * u[6])],
            warpgroups=warpgroups,
            stages=1 + int(4 * u[2]),
            pending=int(2 * u[3]),
            ping_pong=warpgroups == 2 and u[7] < 0.5,
            ctas_per_sm=1 + int((3, 2, 1)[warpgroups - 1] * u[4]),
            query_tiles=max(1, round(exp(u[5] * log(64)))),
            heads=1,
            tiles_per_cta=2,
        )
        ctas = (SMS, 2 * SMS, 200, 4 * SMS)[int(4 * u[6] * 1.9) % 4] * one.ctas_per_sm
        one = replace(one, heads=max(1, round(ctas / one.query_tiles)))
        target = exp(log(40e-6) + u[7] * (log(2e-3) - log(40e-6)))
        per_tile = self.estimate_s(replace(one, tiles_per_cta=1002)) - self.estimate_s(replace(one, tiles_per_cta=2))
        sized = replace(one, tiles_per_cta=max(2, round(1000 * (target - LAUNCH_S) / per_tile)))
        halves = max(sized.heads * sized.tiles_per_cta * sized.key_bytes, sized.grid * sized.query_bytes) // 2
        if halves > LARGEST:
            raise ValueError("too large")
        return sized

    def groups(self) -> list[list[Params]]:
        """Stages; then who hides exponentials: nobody in particular, turns, a warpgroup's own products, both."""
        ways = [{"ping_pong": turns, "pending": pending} for turns in (False, True) for pending in (0, 1)]
        small = replace(LONG, head=64, tile_keys=64, warpgroups=1, ctas_per_sm=2, query_tiles=64)
        return [
            [replace(LONG, tile_keys=64, stages=stages) for stages in (1, 2, 3, 4)],
            [replace(small, stages=stages, pending=0) for stages in (1, 2, 3, 4)],
            [replace(LONG, **way) for way in ways],
            [replace(LONG, head=64, **way) for way in ways],
            [replace(LONG, tile_keys=64, **way) for way in ways],
            [replace(LONG, head=64, warpgroups=3, query_tiles=22, pending=pending) for pending in (0, 1)],
            [replace(small, ctas_per_sm=ctas) for ctas in (1, 2, 3)],
        ]

    def timelines(self) -> list[Params]:
        """One wave of CTAs, with everything that hides exponentials and without."""
        one = replace(LONG, query_tiles=12, heads=11, tiles_per_cta=24)
        return [
            replace(one, pending=0),
            one,
            replace(one, ping_pong=True, pending=0),
            replace(one, ping_pong=True),
            replace(one, head=64, tile_keys=64, warpgroups=1, stages=1, pending=0),
            replace(one, head=64, warpgroups=3, stages=3),
        ]


DESIGN = AttentionDesign(TECHNIQUE, spread=48, traced=6)
