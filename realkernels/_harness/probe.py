"""Buffers of ``probe.cuh`` to a `Timeline`.

Each warp leaves a pair (globaltimer, clock64) at its first and last stamp. From these come the
SM clock during this very launch, by which cycles become seconds, and the offset of each SM's
clock on one common axis. The global timer moves in steps and reads low by up to one, so the
largest of the offsets it suggests is the best.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpusim.timeline import Timeline, TimelineBuilder
from gpusim.timeline.metrics import hidden_fraction

__all__ = ["HEAD", "LANE", "LANES_PER_CTA", "PRODUCER", "STAMP", "TAIL", "Recording"]

LANE = np.dtype([
    ("first_ns", "u8"), ("last_ns", "u8"), ("first_clock", "i8"), ("last_clock", "i8"),
    ("count", "u4"), ("dropped", "u4"), ("sm", "u4"), ("used", "u4"),
])  # fmt: skip
"""ProbeLane of probe.cuh."""
STAMP = np.dtype([("clock", "u4"), ("what", "u4")])
"""ProbeStamp of probe.cuh: the lower half of the clock, and event << 28 | stage << 20 | tile + 1."""
STEP = np.dtype([("clock", "i8"), ("event", "i4"), ("stage", "i4"), ("tile", "i4")])
"""A stamp unpacked: the clock whole, tile -1 before the first one."""
LANES_PER_CTA = 20
AT_ONCE = 32
"""Stamps that a warp writes together; what would begin in the last so many of its room is not written."""
HEAD, TAIL, OBSERVER, PRODUCER, *MORE = range(LANES_PER_CTA)
"""Which warp a lane stands for; see worker_lane in tile.cuh. ``MORE``: further warps of head and tail, not shown."""

LONG_NS = 10_000
"""A warp that ran this long tells the SM clock: the global timer's step is a few tens of nanoseconds."""

DONE, SETUP, WAIT_STAGE, WAIT_FREE, WAIT_COPY, ISSUE, LOAD, COMPUTE, BARRIER, ARRIVED, WAIT_DRAIN, STORE = range(12)
KIND_REASON = {
    SETUP: ("launch", ""),
    WAIT_STAGE: ("wait", "stage_empty"),
    WAIT_FREE: ("wait", "stage_full"),
    WAIT_COPY: ("wait", "copy_in_flight"),
    ISSUE: ("issue", ""),
    LOAD: ("load", ""),
    COMPUTE: ("compute", ""),
    BARRIER: ("barrier", "barrier"),
    WAIT_DRAIN: ("wait", "store_drain"),
    STORE: ("store", ""),
}
"""Events of probe.cuh that begin a step, in the words of the timeline."""


class Recording:
    """The raw buffers of one instrumented launch."""

    def __init__(
        self,
        lanes: np.ndarray,
        stamps: np.ndarray,
        capacity: int,
        clock_hz: float,
        sms: Sequence[int] = (),
        ctas: Sequence[int] | None = None,
    ) -> None:
        """``lanes``, ``stamps``: the buffers as bytes, of ``capacity`` stamps per lane.

        ``clock_hz``: the SM clock sampled beside the launch, for launches too short to tell their own. ``sms``: those
        whose CTAs wrote their stamps. ``ctas``: whose stamps are there, those of all if None.
        Raises ValueError if a CTA left nothing.
        """
        self.lanes = lanes.view(LANE).reshape(-1, LANES_PER_CTA)
        self.stamps = stamps.view(STAMP).reshape(-1, LANES_PER_CTA, capacity)
        self.dropped = int(self.lanes["dropped"][self.lanes["used"] == 1].sum())
        self._used = self.lanes["used"] == 1
        if not self._used[:, HEAD].all():
            raise ValueError("a CTA left no stamps: the kernel did not run, or was not built with -DPROBE")
        self.sm_of_cta = self.lanes["sm"][:, HEAD].astype(int)
        self._row = {int(cta): row for row, cta in enumerate(range(len(self.lanes)) if ctas is None else ctas)}
        self.clock_hz = self._own_clock() or clock_hz
        self._align()
        self._shown = list(sms)

    def _own_clock(self) -> float | None:
        """SM clock of this launch, from warps that ran long enough to be timed to 0.3 %; their median is better."""
        lanes = self.lanes[self._used]
        ns = (lanes["last_ns"] - lanes["first_ns"]).astype(np.float64)
        long = ns >= LONG_NS
        if not long.any():
            return None
        return float(np.median((lanes["last_clock"] - lanes["first_clock"])[long] / ns[long])) * 1e9

    @property
    def gave_up(self) -> bool:
        """Whether an observer ended before it saw all copies arrive: two values in a row may be the same."""
        seen = self.lanes[list(self._row), OBSERVER]
        return bool((seen["dropped"].astype(bool) & (seen["count"] < self.stamps.shape[-1] - AT_ONCE)).any())

    def timeline(
        self,
        *,
        role: str,
        ring: str | None,
        tile_bytes: int,
        max_tiles: int,
        meta: Mapping[str, Any],
        output_ring: str | None = None,
        names: Mapping[int, str] | None = None,
        reach: int = 0,
    ) -> Timeline:
        """The CTAs of the SMs that wrote stamps, the first warp of each role, up to ``max_tiles`` tiles of each CTA.

        They become ``sm[0]`` and ``sm[1]``; their numbers on the device are in
        ``meta["sm_ids"]``. Times count from the first CTA of the kernel. ``names``: of the lanes. ``reach``: how
        many tiles behind its own a step computes with as well.
        ``meta["hidden_fraction"]`` is that of all warps that were recorded, also of those not shown.
        Raises ValueError if an observer gave up.
        """
        if self.gave_up:
            raise ValueError("an observer gave up: it never saw a copy that its warps had issued arrive")
        names = names or {HEAD: role, TAIL: f"{role}_tail", PRODUCER: "producer"}
        chosen = self._shown or self.sms()[:2]

        def collect(indices: Sequence[int], **meta: Any) -> Timeline:
            builder = TimelineBuilder()
            for number, sm in enumerate(chosen):
                for slot, cta in self._slots(sm):
                    prefix = f"sm[{number}].cta[{slot}]"
                    issued: dict[int, float] = {}
                    for index in indices:
                        if self._used[cta, index]:
                            issuer = index == PRODUCER or (index == HEAD and not self._used[cta, PRODUCER])
                            self._add_role(builder, f"{prefix}.{names.get(index, f'{role}[{index}]')}", cta, index,
                                           max_tiles, issued if issuer else None)  # fmt: skip
                    if output_ring is not None:
                        self._add_stores(builder, f"{prefix}.{output_ring}", cta, tile_bytes, max_tiles)
                    if ring is not None and self._used[cta, OBSERVER]:
                        self._add_copies(builder, f"{prefix}.{ring}", cta, issued, tile_bytes, max_tiles, reach)
            return builder.build(**meta)

        hidden = hidden_fraction(collect((PRODUCER, HEAD, TAIL, *MORE)))
        return collect(
            (PRODUCER, HEAD, TAIL),
            source="measured", dropped=self.dropped, clock_hz=self.clock_hz, sm_ids=[int(s) for s in chosen],
            alignment_s=self.alignment_s, last_stamp_s=self.last_s,
            **({} if np.isnan(hidden) else {"hidden_fraction": hidden}), **meta,
        )  # fmt: skip

    def _align(self) -> None:
        """Offset of each SM's clock, so that ``seconds`` works; the first stamp of all is time 0."""
        lanes, used = self.lanes, self._used
        sms = np.broadcast_to(self.sm_of_cta[:, None], used.shape)[used]
        self._ns0 = int(lanes["first_ns"][used].min())
        self._clock0, self._offset, disagreement = {}, {}, []
        for sm in np.unique(sms):
            mine = used & (self.sm_of_cta == sm)[:, None]
            clock0 = int(lanes["first_clock"][mine].min())
            offsets = []
            for when in ("first", "last"):
                clocks = (lanes[f"{when}_clock"][mine] - clock0) / self.clock_hz
                ns = (lanes[f"{when}_ns"][mine] - np.uint64(self._ns0)).astype(np.float64) * 1e-9
                offsets.append(ns - clocks)
            merged = np.concatenate(offsets)
            self._clock0[int(sm)], self._offset[int(sm)] = clock0, float(merged.max())
            disagreement.append(float(merged.max() - merged.min()))
        self.alignment_s = max(disagreement)
        clock0, offset = (
            np.array([of_sm[int(sm)] for sm in self.sm_of_cta])[:, None] for of_sm in (self._clock0, self._offset)
        )
        begins, ends = ((lanes[f"{when}_clock"] - clock0) / self.clock_hz + offset for when in ("first", "last"))
        self._origin = float(begins[used].min())
        self._spans = np.stack([begins, ends], axis=-1) - self._origin
        """When each warp began and ended, [CTA][lane][2], also of one whose stamps did not all find room."""
        self.last_s = float(self._spans[used].max())

    def seconds(self, cta: int, clocks: np.ndarray) -> np.ndarray:
        """Stamps of a CTA on the common axis, in seconds since the first stamp of the kernel."""
        sm = int(self.sm_of_cta[cta])
        return (clocks - self._clock0[sm]) / self.clock_hz + self._offset[sm] - self._origin

    def _steps(self, cta: int, index: int) -> np.ndarray:
        """The stamps of a lane as `STEP`."""
        lane = self.lanes[cta, index]
        rows = self.stamps[self._row[cta], index, : lane["count"]]
        steps = np.empty(len(rows), STEP)
        # Within 2^32 cycles of the lane's first pair, which has the whole clock.
        first = int(lane["first_clock"])
        steps["clock"] = first + (rows["clock"].astype("i8") - first) % (1 << 32)
        what = rows["what"].astype("i8")
        steps["event"], steps["stage"], steps["tile"] = what >> 28, what >> 20 & 0xFF, (what & 0xFFFFF) - 1
        return steps

    def sms(self) -> list[int]:
        """All SMs that had work: first the typical one, of those with the most CTAs; then the others, late ones first.

        Typical is who is in the middle of them by when it ended.
        """
        ids, counts = np.unique(self.sm_of_cta, return_counts=True)
        by_end = sorted(ids.tolist(), key=self._end_s, reverse=True)
        full = set(ids[counts == counts.max()].tolist())
        fullest = [sm for sm in by_end if sm in full]
        typical = fullest[len(fullest) // 2]
        return [typical, *(sm for sm in by_end if sm != typical)]

    def _of(self, sm: int) -> np.ndarray:
        """Numbers of the CTAs that ran on an SM."""
        return np.flatnonzero(self.sm_of_cta == sm)

    def _end_s(self, sm: int) -> float:
        """When the last CTA of an SM ended."""
        return float(self._spans[self._of(sm), HEAD, 1].max())

    def cta_s(self, sm: int) -> float:
        """Seconds that a CTA of an SM took, in the mean."""
        begins, ends = self._spans[self._of(sm), HEAD].T
        return float((ends - begins).mean())

    def _slots(self, sm: int) -> list[tuple[int, int]]:
        """(place on the SM, CTA), so that a CTA takes the lowest place free when it starts."""
        spans = [(*self._spans[cta, HEAD].tolist(), int(cta)) for cta in self._of(sm)]
        free_at: list[float] = []
        placed = []
        for start, end, cta in sorted(spans):
            slot = next((i for i, free in enumerate(free_at) if free <= start), len(free_at))
            free_at[slot : slot + 1] = [end]
            placed.append((slot, cta))
        return placed

    def _add_role(
        self, builder: TimelineBuilder, lane: str, cta: int, index: int, max_tiles: int, issued: dict | None
    ) -> None:
        rows = self._steps(cta, index)
        times = self.seconds(cta, rows["clock"])
        for k in range(len(rows) - 1):
            event, stage, tile = int(rows["event"][k]), int(rows["stage"][k]), int(rows["tile"][k])
            if event not in KIND_REASON or tile >= max_tiles:
                continue
            kind, reason = KIND_REASON[event]
            builder.add(lane, kind, float(times[k]), float(times[k + 1]), reason, tile, stage if tile >= 0 else -1)
            if event == ISSUE and issued is not None:
                issued.setdefault(tile, float(times[k]))  # further issues of a tile are for other rings

    def _add_copies(
        self, builder: TimelineBuilder, lane: str, cta: int, issued: dict[int, float], tile_bytes: int,
        max_tiles: int, reach: int,
    ) -> None:  # fmt: skip
        """A copy lies in its stage's lane from issue to arrival; the lane's last one may end no earlier.

        It had arrived when a warp began to compute with it, though the observer, one of many warps, may see it later.
        """
        rows = self._steps(cta, OBSERVER)
        times = self.seconds(cta, rows["clock"])
        needed = self._first_computed(cta)
        busy_until: dict[int, float] = defaultdict(float)
        for row, time in zip(rows, times, strict=True):
            tile, stage = int(row["tile"]), int(row["stage"])
            if row["event"] != ARRIVED or tile >= max_tiles or tile not in issued:
                continue
            start = max(issued[tile], busy_until[stage])
            arrived = min(float(time), needed.get(max(tile - reach, 0), float(time)))
            busy_until[stage] = max(arrived, start)
            builder.add(f"{lane}[{stage}]", "copy", start, busy_until[stage], "", tile, stage, tile_bytes)

    def _first_computed(self, cta: int) -> dict[int, float]:
        """When the first warp of a CTA began to compute each tile."""
        first: dict[int, float] = {}
        for index in np.flatnonzero(self._used[cta]):
            rows = self._steps(cta, index)
            rows = rows[rows["event"] == COMPUTE]
            for tile, time in zip(rows["tile"].tolist(), self.seconds(cta, rows["clock"]).tolist(), strict=True):
                first[tile] = min(time, first.get(tile, time))
        return first

    def _add_stores(self, builder: TimelineBuilder, lane: str, cta: int, tile_bytes: int, max_tiles: int) -> None:
        """A bulk store lies in its stage's lane from issue until the stage has been read."""
        for index in np.flatnonzero(self._used[cta]):
            rows = self._steps(cta, index)
            times = self.seconds(cta, rows["clock"])
            events = rows["event"]
            for k in range(1, len(rows) - 1):
                tile, stage = int(rows["tile"][k]), int(rows["stage"][k])
                if events[k] == WAIT_DRAIN and events[k - 1] == ISSUE and tile < max_tiles:
                    start, end = float(times[k - 1]), float(times[k + 1])
                    builder.add(f"{lane}[{stage}]", "store", start, end, "", tile, stage, tile_bytes)
