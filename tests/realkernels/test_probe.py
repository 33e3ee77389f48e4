"""Stamps become a timeline: clocks aligned, lanes tiled, copies from issue to arrival."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gpusim.timeline import KINDS
from gpusim.timeline.metrics import hidden_fraction, summary
from realkernels._harness import probe
from realkernels._harness.observe import Observed

HEADER = Path(probe.__file__).with_name("probe.cuh").read_text()
HZ = 2e9
CAPACITY = 64


def test_codes_and_sizes_are_those_of_the_header() -> None:
    """probe.py repeats what probe.cuh defines."""
    codes = dict(re.findall(r"^  PROBE_([A-Z_]+) = (\d+)", HEADER, re.MULTILINE))
    names = {"DONE", "SETUP", "WAIT_STAGE", "WAIT_FREE", "WAIT_COPY", "ISSUE", "LOAD", "COMPUTE", "BARRIER", "ARRIVED"}
    names |= {"WAIT_DRAIN", "STORE"}
    assert set(codes) == names
    assert all(getattr(probe, name) == int(code) for name, code in codes.items())
    assert int(re.search(r"PROBE_LANES_PER_CTA = (\d+)", HEADER).group(1)) == probe.LANES_PER_CTA
    assert (probe.LANE.itemsize, probe.STAMP.itemsize) == (48, 8)


class Buffers:
    """Buffers as a kernel would leave them, from events given in seconds on the true axis."""

    def __init__(self, ctas: int) -> None:
        self.lanes = np.zeros((ctas, probe.LANES_PER_CTA), probe.LANE)
        self.stamps = np.zeros((ctas, probe.LANES_PER_CTA, CAPACITY), probe.STAMP)

    def add(self, cta: int, lane: int, sm: int, offset_cycles: int, rows: list[tuple[float, int, int, int]]) -> None:
        """``rows``: (time in seconds, event, tile, stage); the SM's clock is ahead by ``offset_cycles``."""
        clock = [round(t * HZ) + offset_cycles for t, *_ in rows]
        for k, (_, event, tile, stage) in enumerate(rows):
            self.stamps[cta, lane, k] = (clock[k] & 0xFFFFFFFF, event << 28 | stage << 20 | tile + 1)

        def tick(t):
            return 1_700_000_000_000_000_000 + int(t * 1e9) // 32 * 32

        self.lanes[cta, lane] = (tick(rows[0][0]), tick(rows[-1][0]), clock[0], clock[-1], len(rows), 0, sm, 1)

    def raw(self) -> tuple[np.ndarray, np.ndarray, int]:
        """What `probe.Recording` takes, up to the clock."""
        return self.lanes.view(np.uint8).reshape(-1), self.stamps.view(np.uint8).reshape(-1), CAPACITY

    def timeline(self, ring: str | None = "input", max_tiles: int = 100):
        """The timeline made of them."""
        recording = probe.Recording(*self.raw(), HZ)
        meta = {"total_s": 1e-5}
        return recording.timeline(role="consumer", ring=ring, tile_bytes=4096, max_tiles=max_tiles, meta=meta)


def ring_kernel() -> Buffers:
    """Two SMs whose clocks are far apart; two tiles through a ring of two stages in each of two CTAs."""
    buffers = Buffers(3)
    for cta, (sm, start, ahead) in enumerate([(7, 0.0, 10**12), (7, 1e-7, 10**12), (90, 0.0, 5)]):
        t = [start + k * 1e-7 for k in range(12)]
        buffers.add(cta, probe.PRODUCER, sm, ahead, [
            (t[0], probe.SETUP, -1, 0), (t[1], probe.WAIT_FREE, 0, 0), (t[2], probe.ISSUE, 0, 0),
            (t[3], probe.WAIT_FREE, 1, 1), (t[4], probe.ISSUE, 1, 1), (t[5], probe.DONE, -1, 0)])  # fmt: skip
        buffers.add(cta, probe.HEAD, sm, ahead, [
            (t[0], probe.SETUP, -1, 0), (t[1], probe.WAIT_STAGE, 0, 0), (t[6], probe.COMPUTE, 0, 0),
            (t[8], probe.WAIT_STAGE, 1, 1), (t[9], probe.COMPUTE, 1, 1), (t[11], probe.DONE, -1, 0)])  # fmt: skip
        buffers.add(cta, probe.OBSERVER, sm, ahead, [
            (t[0], probe.SETUP, -1, 0), (t[6], probe.ARRIVED, 0, 0), (t[7], probe.ARRIVED, 1, 1),
            (t[7], probe.DONE, -1, 0)])  # fmt: skip
    return buffers


def test_lanes_are_named_as_the_model_names_them() -> None:
    """The SM with most CTAs comes first; places count the CTAs on it; the tail is absent."""
    timeline = ring_kernel().timeline()
    assert set(timeline.lanes) == {
        f"{cta}.{lane}"
        for cta in ("sm[0].cta[0]", "sm[0].cta[1]", "sm[1].cta[0]")
        for lane in ("producer", "consumer", "input[0]", "input[1]")
    }
    assert timeline.meta["source"] == "measured"
    assert timeline.meta["sm_ids"] == [7, 90]


def test_lanes_are_tiled_without_gaps_and_times_start_at_the_first_stamp() -> None:
    """Each step ends where the next begins."""
    timeline = ring_kernel().timeline()
    assert timeline.span_s[0] == pytest.approx(0.0, abs=1e-12)
    for lane in ("consumer", "producer"):
        rows = [i for i in timeline if i.lane == f"sm[0].cta[0].{lane}"]
        assert all(a.end_s == pytest.approx(b.start_s, abs=1e-15) for a, b in pairwise(rows))
    waits = [i for i in timeline if i.lane.endswith("cta[0].consumer") and i.kind == "wait"]
    assert {i.reason for i in waits} == {"stage_empty"}


def test_a_copy_lasts_from_issue_to_arrival() -> None:
    """Issued by the producer, seen by the observer."""
    timeline = ring_kernel().timeline()
    copies = [i for i in timeline if i.kind == "copy" and i.lane.startswith("sm[0].cta[0]")]
    assert [(i.stage, round(i.duration_s * 1e7)) for i in copies] == [(0, 4), (1, 3)]
    assert all(i.bytes == 4096 for i in copies)


def test_a_copy_has_arrived_when_a_warp_computes_with_it() -> None:
    """An observer that sees it later is a warp among many; a step that reaches further needs more copies."""
    buffers = ring_kernel()
    late = [(0.0, probe.SETUP, -1, 0), (11e-7, probe.ARRIVED, 0, 0), (12e-7, probe.ARRIVED, 1, 1), (12e-7, 0, -1, 0)]
    buffers.add(2, probe.OBSERVER, 90, 5, late)

    def lengths(reach: int) -> list[int]:
        recording = probe.Recording(*buffers.raw(), HZ, sms=(90,))
        timeline = recording.timeline(
            role="consumer", ring="input", tile_bytes=1, max_tiles=9, reach=reach, meta={"total_s": 1e-5}
        )
        return [round(each.duration_s * 1e7) for each in timeline if each.kind == "copy"]

    assert lengths(0) == [4, 5]  # issued at 2 and 4, computed with from 6 and 9 on
    assert lengths(1) == [4, 2]  # from 6 on with both


def test_clocks_of_different_sms_are_laid_on_one_axis_within_a_timer_step() -> None:
    """Clocks that differ by minutes agree to the 32 ns of the global timer."""
    timeline = ring_kernel().timeline()
    starts = [min(i.start_s for i in timeline if i.lane == f"sm[{sm}].cta[0].consumer") for sm in (0, 1)]
    assert abs(starts[0] - starts[1]) <= 32e-9
    assert timeline.meta["alignment_s"] <= 32e-9 + 1e-12


def test_warps_that_are_not_shown_count_for_the_hidden_fraction() -> None:
    """Copies take 4 + 3; the shown consumer computes during 1 of the second, another warp during all of both."""
    buffers = ring_kernel()
    shown = buffers.timeline()
    assert shown.meta["hidden_fraction"] == pytest.approx(hidden_fraction(shown))
    for cta, (sm, start, ahead) in enumerate([(7, 0.0, 10**12), (7, 1e-7, 10**12), (90, 0.0, 5)]):
        rows = [(start, probe.COMPUTE, 0, 0), (start + 11e-7, probe.DONE, -1, 0)]
        buffers.add(cta, probe.MORE[0], sm, ahead, rows)
    more = buffers.timeline()
    assert more.lanes == shown.lanes
    assert more.meta["hidden_fraction"] == pytest.approx(1.0)
    assert summary(more)["hidden_fraction"] == pytest.approx(1.0)


def test_the_lower_half_of_the_clock_may_wrap() -> None:
    """A lane that begins just before a multiple of 2^32 is as long as any other."""
    buffers = Buffers(1)
    rows = [(0.0, probe.SETUP, -1, 0), (1e-6, probe.COMPUTE, 0, 0), (2e-6, probe.DONE, -1, 0)]
    buffers.add(0, probe.HEAD, 3, (7 << 32) - 1000, rows)
    timeline = buffers.timeline(ring=None)
    assert [round(i.duration_s * 1e9) for i in timeline] == [1000, 1000]


def test_tiles_beyond_the_limit_are_left_out() -> None:
    """max_tiles bounds what is kept, not what ran."""
    timeline = ring_kernel().timeline(max_tiles=1)
    assert timeline.tile.max() == 0
    assert KINDS[timeline.kind.max()] in KINDS


def staggered(ends: dict[int, list[float]]) -> Buffers:
    """CTAs of SMs, by when each ends, in microseconds; every one begins at 0."""
    buffers = Buffers(sum(len(each) for each in ends.values()))
    for cta, (sm, end) in enumerate((sm, end) for sm, each in ends.items() for end in each):
        buffers.add(cta, probe.HEAD, sm, 0, [(0.0, probe.COMPUTE, 0, 0), (end * 1e-6, probe.DONE, -1, 0)])
    return buffers


def test_the_typical_sm_is_in_the_middle_of_the_full_ones_and_the_last_follows() -> None:
    """SMs 2, 4 and 6 have two CTAs each; 8, which has one, ends last of all."""
    buffers = staggered({8: [9.0], 2: [1.0, 2.0], 4: [7.0, 3.0], 6: [4.0, 5.0]})
    recording = probe.Recording(*buffers.raw(), HZ)
    assert recording.sms() == [6, 8, 4, 2]


def test_the_sms_that_wrote_stamps_are_shown_in_the_order_given() -> None:
    """Those of a launch are chosen from the one before."""
    buffers = staggered({2: [1.0], 4: [2.0], 6: [3.0]})
    recording = probe.Recording(*buffers.raw(), HZ, sms=(6, 2))
    timeline = recording.timeline(role="worker", ring=None, tile_bytes=0, max_tiles=9, meta={"total_s": 1e-5})
    assert timeline.meta["sm_ids"] == [6, 2]
    ends = {each.lane: round(each.end_s * 1e6) for each in timeline}
    assert ends == {"sm[0].cta[0].worker": 3, "sm[1].cta[0].worker": 1}


def test_buffers_nobody_wrote_are_an_error() -> None:
    """A kernel built without the probe leaves zeros."""
    with pytest.raises(ValueError, match="left no stamps"):
        Buffers(2).timeline()


def test_a_launch_that_lasts_tells_its_own_clock() -> None:
    """A clock sampled elsewhere is used for short launches only."""
    buffers = Buffers(1)
    rows = [(k * 1e-5, probe.COMPUTE, k, 0) for k in range(5)] + [(5e-5, probe.DONE, -1, 0)]
    buffers.add(0, probe.HEAD, 3, 77, rows)
    assert probe.Recording(*buffers.raw(), 1.5e9).clock_hz == pytest.approx(HZ, rel=1e-3)
    assert probe.Recording(*ring_kernel().raw(), 1.5e9).clock_hz == 1.5e9


def test_stamps_of_the_observed_ctas_are_enough() -> None:
    """Those of the others need not be read."""
    buffers = staggered({2: [1.0], 4: [2.0], 6: [3.0]})
    lanes, stamps, capacity = buffers.raw()
    last = stamps.reshape(3, -1)[2]
    recording = probe.Recording(lanes, last, capacity, HZ, sms=(6,), ctas=(2,))
    timeline = recording.timeline(role="worker", ring=None, tile_bytes=0, max_tiles=9, meta={"total_s": 1e-5})
    assert [(each.lane, round(each.end_s * 1e6)) for each in timeline] == [("sm[0].cta[0].worker", 3)]


def test_an_observer_that_gave_up_is_an_error() -> None:
    """Its copies would be missing, and all others would seem to be hidden or not."""
    buffers = ring_kernel()
    buffers.lanes["dropped"][1, probe.OBSERVER] = 1
    with pytest.raises(ValueError, match="observer gave up"):
        buffers.timeline()


def test_an_observer_whose_stamps_found_no_room_is_none() -> None:
    """The first tiles of a long run are all that is shown of it."""
    for written in (CAPACITY, CAPACITY - probe.AT_ONCE):
        buffers = ring_kernel()
        buffers.lanes["dropped"][1, probe.OBSERVER] = 5
        buffers.lanes["count"][1, probe.OBSERVER] = written
        assert buffers.timeline().meta["hidden_fraction"] >= 0.0


def test_the_hidden_fraction_is_the_median_of_all_launches() -> None:
    """Of a quarter, a half and three quarters of a copy; the launch that is shown is the last one."""
    launches = []
    for computes in (1e-7, 3e-7, 2e-7):
        buffers = Buffers(1)
        buffers.add(0, probe.PRODUCER, 3, 0, [(0.0, probe.ISSUE, 0, 0), (1e-9, probe.DONE, -1, 0)])
        buffers.add(0, probe.HEAD, 3, 0, [(0.0, probe.COMPUTE, 5, 0), (computes, probe.DONE, -1, 0)])
        buffers.add(0, probe.OBSERVER, 3, 0, [(0.0, probe.SETUP, -1, 0), (4e-7, probe.ARRIVED, 0, 0), (5e-7, 0, -1, 0)])
        launches.append(probe.Recording(*buffers.raw(), HZ))
    observed = Observed(tuple(launches), 0.0, 1e-5)
    timeline = observed.timeline(role="consumer", ring="input", tile_bytes=1, max_tiles=9, meta={"total_s": 1e-5})
    assert timeline.meta["hidden_fraction"] == pytest.approx(0.5, abs=0.01)
    assert timeline.meta["hidden_range"] == pytest.approx([0.25, 0.75], abs=0.01)
