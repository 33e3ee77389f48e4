"""CTAs that are left out once waves repeat, and SMs that do without the last CTA."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.folding.sm_classes import place_ctas
from gpusim.hardware.folding.waves import Waves
from gpusim.hardware.sm import sm
from gpusim.hardware.sm.cta import Cta
from gpusim.scenario import from_data
from tests.tile_programs import kernel, padded, technique, textbook, tma_ring


def watched(ends, resident, total, before=None, tiles=1):
    """Waves that have seen all of ``ends``, one after the other, of ``total`` CTAs."""
    waves = Waves(resident, tiles, before)
    for count in range(1, len(ends) + 1):
        waves.leave_out(ends[:count], total - count - resident - 1)
    return waves


class TestLeaveOut:
    """When, and how many."""

    def test_equal_waves_are_left_out_in_whole_turns(self):
        """Two CTAs every 5 us: 12 have to be seen; of 85 that wait 84 are whole turns of two."""
        waves = watched([5.0 * (n // 2 + 1) for n in range(40)], 2, 100)
        assert (waves.seen, waves.turn, waves.missing) == (12, 2, 84)

    def test_several_waves_may_make_a_turn(self):
        """One CTA at a time that takes 4, 5 and 6 us in turn."""
        ends = [15.0 * (n // 3) + (4.0, 9.0, 15.0)[n % 3] for n in range(40)]
        waves = watched(ends, 1, 100)
        assert waves.turn == 3
        assert waves.missing % 3 == 0

    def test_waves_that_slow_down_are_all_simulated(self):
        """Each takes 1 % longer than the one before."""
        assert watched([1.01**n for n in range(60)], 1, 100).missing == 0

    def test_after_many_waves_the_mean_has_to_do(self):
        """Waves that go on slowing down, with 10 000 CTAs more to come."""
        assert watched([float(n) ** 1.5 for n in range(1, 140)], 1, 10_000).missing > 9000

    @pytest.mark.parametrize(("total", "tiles", "left_out"), [(200, 1, True), (100, 1, False), (100, 200, True)])
    def test_the_mean_end_of_waves_may_be_even(self, total, tiles, left_out):
        """Two CTAs that move apart, a wave every 5 us: with many to come, or if each costs much."""
        ends = [5.0 * (n // 2 + 1) + (n % 2 - 0.5) * (n / 50.0) ** 0.7 for n in range(60)]
        waves = watched(ends, 2, total, tiles=tiles)
        assert bool(waves.missing) == waves.even == left_out
        assert waves.turn % 2 == waves.missing % 2 == 0

    def test_a_second_run_leaves_out_the_same(self):
        """Although its own ends say nothing."""
        first = watched([5.0 * (n // 2 + 1) for n in range(40)], 2, 100)
        again = watched([float(n) ** 2 for n in range(40)], 2, 100, first)
        assert (again.seen, again.turn, again.missing) == (first.seen, first.turn, first.missing)


class TestManyWaves:
    """CTAs that share an SM and get out of step."""

    @pytest.mark.parametrize("waves", [124, 2000])
    def test_few_of_them_are_simulated(self, waves, monkeypatch):
        """However many there are; each of 40 tiles."""
        made = counted(monkeypatch)
        simulate_kernel(out_of_step(528 * waves), load_profile("h200_sxm"), trace=False)
        assert len(made) < 4 * 40

    def test_the_total_is_that_of_all_of_them(self, monkeypatch):
        """As if none had been left out."""
        program, profile = out_of_step(528 * 124, tiles=20), load_profile("h200_sxm")
        made = counted(monkeypatch)
        some = simulate_kernel(program, profile, trace=False).total_s
        few = len(made)
        every = simulate_kernel(program, profile, trace=False, exact=True).total_s
        assert few < 4 * 40 < 4 * 124 == len(made) - few
        assert some == pytest.approx(every, rel=1e-3)


def counted(monkeypatch):
    """The CTAs that are simulated from now on."""
    made = []
    monkeypatch.setattr(sm, "Cta", lambda *args: made.append(args) or Cta(*args))
    return made


def out_of_step(grid, tiles=40):
    """Four CTAs fit an SM; waves of them take no turns that repeat."""
    rings = {"input": {"stages": 3, "bytes": "16 KiB"}}
    compute = {"ffma": 512, "lds": 8, "other": 24, "ilp": 4}
    roles = {
        "producer": {"warps": 1, "per_tile": [{"acquire": "input"}, {"tma_load": "input"}]},
        "consumer": {"warps": 4, "per_tile": [{"wait": "input"}, {"compute": compute}, {"release": "input"}]},
    }
    kernel = {"grid": grid, "tiles_per_cta": tiles, "rings": rings, "roles": roles}
    return from_data({"question": "How long?", "device": "h200_sxm", "kernel": kernel}, "waves").program()


class TestLastCta:
    """132 SMs that are one class."""

    def test_sms_without_it_are_counted_with_the_others(self):
        """40 of 132 run one more."""
        (found,) = place_ctas(kernel(grid=132 * 12 + 40), 132, 1)
        assert (found.multiplicity, len(found.tiles)) == (132, 13)
        assert found.parts == pytest.approx((40 / 132,))

    def test_less_than_a_wave_keeps_them_apart(self):
        """40 of 132 run two CTAs, the others one."""
        assert len(place_ctas(kernel(grid=132 + 40), 132, 2)) == 2

    def test_the_total_lies_between_those_of_even_grids(self):
        """With 20, 20 and a bit, and 21 waves; the class says how many do without."""
        totals = [
            simulate_kernel(padded(tma_ring(2, tiles=4, grid=grid), 1), textbook(), trace=False)
            for grid in (132 * 20, 132 * 20 + 33, 132 * 21)
        ]
        assert totals[0].total_s < totals[1].total_s <= totals[2].total_s
        assert [t.meta["sm_classes"][0]["without_last_cta"] for t in totals] == [0, 99, 0]

    def test_its_bytes_are_those_of_the_sms_that_run_it(self):
        """HBM is busy for what the grid reads, not for a full last wave."""
        found = technique("tma_warp_specialized")
        params = {"stages": 4, "consumer_warps": 4, "ctas_per_sm": 1, "fma_per_element": 0}
        program = found.build(found.make_params({**params, "grid": 132 * 14 + 2, "tiles_per_cta": 4}))
        profile = load_profile("h200_sxm")
        timeline = simulate_kernel(program, profile, exact=True, trace=False)
        busy_s = timeline.meta["hbm_busy"] * (
            timeline.total_s - timeline.meta["launch_s"] - timeline.meta["lateness_s"]
        )
        assert busy_s == pytest.approx(timeline.meta["bytes_read"] / profile.value("hbm.read_bandwidth"), rel=0.02)
