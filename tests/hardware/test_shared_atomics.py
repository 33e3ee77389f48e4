"""Atomics on shared memory, against closed forms (textbook device) and the microbenchmark."""

from __future__ import annotations

import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.program import Compute, Mix, Role
from tests.bench_rows import rows
from tests.tile_programs import kernel, one_role, textbook, total_ns, without_launch_s

TURNS, BATCH = 400, 8
ONCE_EACH = "inc"
"""Lanes that add 1 to the same word are one update."""
SWAP = "cas"
"""Takes two turns for each lane."""


def cycles(mix, warps=1, **overrides):
    """Cycles that a CTA of so many warps takes, where shared memory gives a word of each bank in a cycle."""
    profile = textbook(sm__shared_bandwidth="128 B/cycle", **overrides)
    return total_ns(one_role(Compute(mix), warps=warps), profile)


class TestClosedForms:
    """On a device of round costs."""

    def test_lanes_that_want_a_bank_pass_one_after_the_other(self):
        """32 warps x 10 updates x 32 turns of a cycle."""
        assert cycles(Mix(atoms=10, atoms_wavefronts=32), 32) == pytest.approx(32 * 10 * 32)

    def test_a_warp_alone_waits_from_one_to_the_next(self):
        """The longer of the interval and what its turns take."""
        few = {"sm__atoms_interval": "6 cycles", "sm__atoms_interval_per_wavefront": "2 cycles"}
        assert cycles(Mix(atoms=10), **few) == pytest.approx(60)
        assert cycles(Mix(atoms=10, atoms_wavefronts=4), **few) == pytest.approx(80)

    def test_old_values_are_waited_for(self):
        """A chain of 10: 30 cycles for each, and 2 for each turn beyond the first."""
        away = {"sm__atoms_latency": "30 cycles", "sm__atoms_latency_per_extra_wavefront": "2 cycles"}
        assert cycles(Mix(atoms=10, atoms_waits=10), **away) == pytest.approx(300)
        assert cycles(Mix(atoms=10, atoms_waits=10, atoms_wavefronts=6), **away) == pytest.approx(400)

    def test_what_stands_between_them_takes_no_time_of_its_own(self):
        """Ten updates 6 cycles apart and 40 cycles of others, together 60 in the compiler's counts."""
        mix = Mix(atoms=10, interleaved=40, alone=60)
        assert cycles(mix, sm__atoms_interval="6 cycles") == pytest.approx(100, abs=1)
        assert cycles(Mix(atoms=10, interleaved=40, alone=100), sm__atoms_interval="6 cycles") == pytest.approx(100)


def test_a_full_path_is_told():
    """Of one SM, and not where others have nothing to do."""
    profile = textbook(sm__count=1, sm__shared_bandwidth="128 B/cycle")
    busy = one_role(Compute(Mix(atoms=10, atoms_wavefronts=32, lds=10, lds_bytes=4)), warps=32)
    assert simulate_kernel(busy, profile, trace=False).meta["shared_busy"] == pytest.approx(1.0, rel=0.01)
    idle = one_role(Compute(Mix(ffma=10)), warps=32)
    assert simulate_kernel(idle, profile, trace=False).meta["shared_busy"] == 0.0


def per_update(mix, warps):
    """Cycles of an SM for each update of a warp, in a loop that does not end."""
    profile = load_profile("h200_sxm")

    def worker(tiles):
        for tile in range(tiles):
            yield Compute(mix, tile=tile)

    long, short = (
        without_launch_s(kernel(Role("worker", warps, worker), tiles=tiles), profile) for tiles in (2 * TURNS, TURNS)
    )
    return (long - short) * profile.value("sm.clock") / (TURNS * BATCH * warps)


def turns_of(row):
    """How often the bench's row passes shared memory."""
    wanted = row["banked"] if row["op"] == ONCE_EACH else row["turns"]
    return wanted * (2.0 if row["op"] == SWAP else 1.0)


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("op", ["inc", "add", "max", "returns", "cas"])
def test_rates_of_the_bench(op, warps):
    """Conflicts of every kind, words of all warps or of each: mean and worst."""
    waits = 1.0 if op in ("returns", "cas") else 0.0
    errors = []
    for row in rows("shared_atomics", kind="rate", op=op, warps=warps, loads=0):
        mix = Mix(atoms=BATCH, atoms_wavefronts=turns_of(row), atoms_waits=waits, interleaved=3)
        errors.append(abs(per_update(mix, warps) / row["cycles"] - 1.0))
    # Warps that wait for old values are taken to wait all at once, which few do not. One interval stands for all kinds.
    assert max(errors) <= (0.27 if waits and warps == 8 else 0.18 if warps <= 4 else 0.05)
    assert sum(errors) / len(errors) <= (0.09 if warps <= 4 else 0.04)


@pytest.mark.parametrize("loads", [1, 4])
@pytest.mark.parametrize("op", ["inc", "add"])
def test_loads_beside_share_the_way(op, loads):
    """As many turns as both have."""
    for row in rows("shared_atomics", kind="rate", op=op, warps=32, loads=loads):
        more = BATCH * loads
        mix = Mix(
            atoms=BATCH, atoms_wavefronts=turns_of(row), lds=more, lds_bytes=4, loads_in_flight=more, interleaved=3
        )
        assert per_update(mix, 32) == pytest.approx(row["cycles"], rel=0.05)


def test_sums_of_floating_point_are_loops():
    """A turn for each lane of the fullest bank; counts and cycles of its code, of words that no other warp wants."""
    for row in rows("shared_atomics", kind="rate", op="float", apart=True, loads=0):
        turns = BATCH * row["turns"]
        mix = Mix(
            lds=turns, lds_bytes=4, ffma=turns, atoms=turns, atoms_wavefronts=2.0, atoms_waits=turns,
            other=2 * turns + 12, interleaved=9, ilp=1.0, alone=32 * turns + 82,
        )  # fmt: skip
        assert per_update(mix, row["warps"]) == pytest.approx(row["cycles"], rel=0.16), row
