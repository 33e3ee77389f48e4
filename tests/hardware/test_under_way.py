"""How much an SM can have under way: the room itself, and cp.async against closed forms and the `under_way` bench."""

from __future__ import annotations

import pytest

from gpusim.engine import Simulation
from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.under_way import UnderWay
from gpusim.program import CommitGroup, CpAsync, Ring, Role, WaitGroup
from tests.bench_rows import rows
from tests.tile_programs import RING, kernel, padded, textbook

H200 = load_profile("h200_sxm")
TILES, FROM, TO = 60, 20, 50
"""Of a run, and those looked at: the ring is full, and nobody drains it yet."""


class TestRoom:
    """`UnderWay` alone."""

    def test_who_finds_none_waits_for_the_first_to_arrive(self):
        """Room for 10: 6 until 5 us and 4 until 7 us, so that 3 more have room at 5 us and 5 more at 7 us."""
        sim = Simulation()
        room, got = UnderWay(sim, 10.0), {}

        def asking(amount, since_s):
            yield from room.room(amount, since_s)
            room.add(sim.event(), amount)
            got[amount] = sim.now

        room.add(sim.timeout(5e-6), 6.0)
        room.add(sim.timeout(7e-6), 4.0)
        for amount, since_s in ((5.0, 1.0), (3.0, 0.0)):
            sim.process(asking(amount, since_s))
        sim.run()
        assert got == {3.0: pytest.approx(5e-6), 5.0: pytest.approx(7e-6)}

    def test_more_than_the_whole_goes_alone(self):
        """Otherwise it would wait for ever."""
        room = UnderWay(Simulation(), 10.0)
        assert room.free(25.0)
        room.add(Simulation().event(), 1.0)
        assert not room.free(25.0)


def ring(group, in_flight, warps, ctas_per_sm, grid, align):
    """As the bench: each warp issues a group and waits until all but ``in_flight`` - 1 are there."""

    def body(tiles):
        for tile in range(tiles):
            yield CpAsync(RING, group, align=align, tile=tile)
            yield CommitGroup(tile=tile)
            yield WaitGroup(in_flight - 1, tile=tile)
        yield WaitGroup(0)

    shape = {"rings": (Ring(RING, in_flight, group),), "shared_bytes": group * in_flight}
    program = kernel(Role("worker", warps, body), tiles=TILES, grid=grid, **shape)
    return padded(program, ctas_per_sm) if ctas_per_sm > 1 else program


def issuing(program, device):
    """Part of a warp's time that goes into issuing."""
    timeline = simulate_kernel(program, device)
    issue = timeline.mask(kinds=("issue",), lanes=r"^sm\[0\]\.cta\[0\]\.worker$")
    begun = [timeline.start_s[issue & (timeline.tile == tile)].min() for tile in (FROM, TO)]
    looked_at = issue & (timeline.tile >= FROM) & (timeline.tile < TO)
    return (timeline.end_s[looked_at] - timeline.start_s[looked_at]).sum() / (begun[1] - begun[0])


def test_copies_wait_for_room_only_where_it_is_short():
    """Four groups of 4 KiB with room for two and a half: who issues waits for most of its time, otherwise never."""
    program = ring(4096, 4, 4, 1, 132, 128)
    assert issuing(program, textbook(lsu__cp_async_under_way="10 KiB")) > 0.9
    assert issuing(program, textbook(lsu__cp_async_under_way="16 KiB")) < 0.1


def test_copies_off_a_line_need_more_room():
    """By what the profile says for where they start."""
    device = textbook(lsu__cp_async_off_line_under_way="10 KiB")
    assert issuing(ring(4096, 4, 4, 1, 132, 32), device) > 0.5
    assert issuing(ring(4096, 4, 4, 1, 132, 128), device) < 0.1


def test_who_issues_waits_as_on_the_device():
    """Part of a warp's time: copies on a line, off a line and off a sector, with 24 to 192 KiB under way."""
    differences = []
    for row in rows("under_way"):
        if row["source"] != "dram" or row["ctas"] < 132 or row["in_flight"] < 3 or row["warps"] != 8:
            continue
        group = row["group_bytes"]
        align = row["offset"] & -row["offset"] or 128
        if group < 16 << 10 or row["offset"] == 64:
            continue
        # The device spends some of a turn on other things than these two.
        measured = row["issue_cycles"] / (row["issue_cycles"] + row["wait_cycles"])
        program = ring(group, row["in_flight"], row["warps"], row["ctas_per_sm"], row["ctas"], align)
        differences.append(issuing(program, H200) - measured)
    assert len(differences) > 25
    assert sum(map(abs, differences)) / len(differences) < 0.1
    assert max(map(abs, differences)) < 0.4
