"""What is issued behind copies by threads, against closed forms and the `behind_copies` bench."""

from __future__ import annotations

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import CommitGroup, Compute, CpAsync, Mix, Ring, Role, WaitGroup
from tests.bench_rows import rows
from tests.tile_programs import kernel, textbook

RING, WARPS = "input", 8


def stamps(device, size, align=0):
    """SM cycles from the beginning until the copies have been issued, and until a word of shared memory is there."""

    def body(tiles):
        yield CpAsync(RING, size, tile=0, align=align, l2_hit=1.0)
        yield Compute(Mix(lds=1, lds_bytes=4), tile=0)
        yield CommitGroup(tile=0)
        yield WaitGroup(0, tile=0)

    program = kernel(Role("worker", WARPS, body), grid=1, rings=(Ring(RING, 1, size),))
    timeline = simulate_kernel(program, device, exact=True)
    issue = next(i for i in timeline if i.kind == "issue" and i.lane.endswith("worker"))
    compute = next(i for i in timeline if i.kind == "compute" and i.lane.endswith("worker"))
    return [(end - issue.start_s) * device.clock_hz for end in (issue.end_s, compute.end_s)]


def test_shared_loads_wait_until_all_copies_are_taken_in():
    """64 instructions of 512 bytes at 32 bytes a cycle take 1024 cycles; of these 10 find room in the queue."""
    free, queue = (textbook(sm__count=1, lsu__queue=room) for room in (0, 10))
    assert stamps(free, 32 << 10) == pytest.approx([8.0 * 2, 8.0 * 2 + 2.0])
    assert stamps(queue, 32 << 10) == pytest.approx([1024.0 - 160.0, 1024.0 + 2.0])


@pytest.mark.parametrize("size", [16 << 10, 32 << 10, 48 << 10, 64 << 10])
@pytest.mark.parametrize("align", [128, 64])
def test_they_wait_as_long_as_on_the_h200(size, align):
    """Tiles on lines, and those that start in the middle of one half of the time: within 12 % or 25 cycles."""
    found = [
        row["shared_cycles"]
        for row in rows("behind_copies")
        if (row["kind"], row["sms"], row["bytes"]) == ("cp_async", 1, size) and row["offset"] in range(0, 128, align)
    ]
    _, shared = stamps(load_profile("h200_sxm", {"sm.count": 1}), size, align)
    assert shared == pytest.approx(np.mean(found), rel=0.12, abs=25)
