"""Made-up pipelines for tests of the dashboard: no device, no model, only shapes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpusim.timeline import KINDS, REASONS, Timeline, TimelineBuilder


@dataclass
class _Cta:
    """Where one CTA stands while its timeline is made."""

    head: str
    producer: float
    freed: list[float]
    freed_by: list[int]
    consumer: float = 0.0


def pipeline(
    *, sms: int = 1, ctas: int = 1, tiles: int = 40, stages: int = 3, copy_us: float = 0.9,
    compute_us: float = 0.4, jitter: float = 0.0, source: str = "predicted", seed: int = 0,
) -> Timeline:  # fmt: skip
    """A producer, a ring and a consumer per CTA; one transfer unit per SM."""
    random = np.random.default_rng(seed)
    build = TimelineBuilder()

    def around(us: float) -> float:
        return us * 1e-6 * max(1 + jitter * float(random.standard_normal()), 0.2)

    end = 0.0
    for sm in range(sms):
        unit_free = 0.0
        members = [
            _Cta(f"sm[{sm}].cta[{c}]", (0.3 + 0.1 * c) * 1e-6, [0.0] * stages, [-1] * stages) for c in range(ctas)
        ]
        for tile in range(tiles):
            slot = tile % stages
            for cta in members:
                where = {"tile": tile, "stage": slot}
                if cta.freed[slot] > cta.producer:
                    build.add(f"{cta.head}.producer", "wait", cta.producer, cta.freed[slot], "stage_full",
                              cause=cta.freed_by[slot], **where)  # fmt: skip
                    cta.producer = cta.freed[slot]
                issued = cta.producer + around(0.05)
                build.add(f"{cta.head}.producer", "issue", cta.producer, issued, **where)
                cta.producer = issued
                begin = max(unit_free, issued)
                unit_free = begin + around(copy_us / 4)
                build.add(f"sm[{sm}].tma", "transfer", begin, unit_free, bytes=16384, **where)
                arrival = unit_free + around(copy_us)
                copy = build.add(f"{cta.head}.input[{slot}]", "copy", issued, arrival, bytes=16384, **where)
                if arrival > cta.consumer:
                    build.add(f"{cta.head}.consumer", "wait", cta.consumer, arrival, "stage_empty", cause=copy, **where)
                    cta.consumer = arrival
                done = cta.consumer + around(compute_us)
                cta.freed_by[slot] = build.add(f"{cta.head}.consumer", "compute", cta.consumer, done, **where)
                cta.consumer = cta.freed[slot] = done
                end = max(end, done)
    return build.build(source=source, device="synthetic", total_s=end)


def dense(intervals: int, lanes: int = 132, *, source: str = "predicted", seed: int = 0) -> Timeline:
    """``intervals`` back-to-back intervals of mixed length on ``lanes`` lanes, columns only."""
    random = np.random.default_rng(seed)
    per_lane = max(intervals // lanes, 1)
    length = random.gamma(2.0, 0.25e-6, size=(lanes, per_lane))
    end = np.cumsum(length, axis=1)
    pattern = np.array([KINDS.index(k) for k in ("issue", "load", "wait", "compute", "store")])
    kind = np.broadcast_to(pattern[np.arange(per_lane) % 5], (lanes, per_lane)).ravel()
    reason = np.where(kind == KINDS.index("wait"), REASONS.index("stage_empty"), 0)
    count = lanes * per_lane
    tile = np.broadcast_to(np.arange(per_lane) // 5, (lanes, per_lane)).ravel()
    return Timeline(
        lanes=tuple(f"sm[{i}].cta[0].consumer" for i in range(lanes)),
        lane=np.repeat(np.arange(lanes, dtype=np.int32), per_lane),
        kind=kind.astype(np.int16), start_s=(end - length).ravel(), end_s=end.ravel(),
        reason=reason.astype(np.int16), tile=tile.astype(np.int64), stage=(tile % 4).astype(np.int64),
        bytes=np.zeros(count, dtype=np.int64), cause=np.full(count, -1, dtype=np.int64),
        meta={"source": source, "device": "synthetic", "total_s": float(end.max())},
    )  # fmt: skip
