"""Arithmetic of one op against its closed form, in cycles of the textbook device (1 GHz)."""

from __future__ import annotations

import statistics

import pytest

from gpusim.hardware import load_profile
from gpusim.hardware.sm.compute import ComputeModel
from gpusim.program import Compute, Load, Mix, Role, SyncThreads
from tests.bench_rows import rows
from tests.tile_programs import kernel, one_role, padded, textbook, total_ns


def cycles(mix, warps=1, **overrides):
    """Cycles a CTA of ``warps`` warps takes for ``mix``; warps go round the four schedulers."""
    return total_ns(one_role(Compute(mix), warps=warps), textbook(**overrides))


@pytest.mark.parametrize(
    ("warps", "expected"),
    [(1, 128), (4, 128), (5, 256), (8, 256), (9, 384), (32, 1024)],
)
def test_one_warp_instruction_a_cycle_and_scheduler(warps, expected):
    """T = ⌈warps / 4⌉ × 128 independent FFMAs."""
    assert cycles(Mix(ffma=128), warps) == pytest.approx(expected)


@pytest.mark.parametrize(("ilp", "expected"), [(1, 512), (2, 256), (4, 128), (8, 128)])
def test_dependent_instructions_wait_for_each_other(ilp, expected):
    """T = n × max(1, latency / ILP), n = 128, latency 4."""
    assert cycles(Mix(ffma=128, ilp=ilp), sm__ffma_latency="4 cycles") == pytest.approx(expected)


@pytest.mark.parametrize(("warps", "expected"), [(4, 512), (8, 512), (16, 512), (24, 768)])
def test_other_warps_fill_the_gaps_of_dependent_instructions(warps, expected):
    """T = max(n × latency, n × warps per scheduler): four warps of ILP 1 hide a latency of 4."""
    assert cycles(Mix(ffma=128, ilp=1), warps, sm__ffma_latency="4 cycles") == pytest.approx(expected)


def test_issue_rate_below_one_stretches_the_arithmetic():
    """T = n / rate = 128 / 0.5."""
    assert cycles(Mix(ffma=128), sm__ffma_issue_rate="0.5 /cycle") == pytest.approx(256)


@pytest.mark.parametrize(("in_flight", "expected"), [(1, 200), (5, 48), (10, 29)])
def test_loads_in_flight_share_one_latency(in_flight, expected):
    """10 loads in batches of b: 10/b latencies of 20, and 1 cycle for each further load of a batch."""
    mix = Mix(lds=10, loads_in_flight=in_flight)
    assert cycles(mix, sm__lds_latency="20 cycles") == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize(("warps", "expected"), [(4, 300), (8, 420), (12, 530)])
def test_warps_in_step_stall_together(warps, expected):
    """One warp: 100 FFMAs + 10 × 20 of latency. k in step: k × (100 + 10) slots + the latency they all see."""
    profile = {"sm__lds_latency": "20 cycles", "sm__ffma_latency": "4 cycles"}
    assert cycles(Mix(ffma=100, lds=10, ilp=4), warps, **profile) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize(("warps", "expected"), [(1, 300), (4, 310), (8, 349), (12, 404)])
def test_warps_with_many_chains_stall_at_different_times(warps, expected):
    """A closed queue of 1, 2, 3 warps a scheduler with 11 slots of service and 20 cycles away, ten times.

    Two: a warp finds 11 / 31 of another one in service, so 11 × 42 / 31 + 20 = 34.9; three find 0.854, 40.4.
    """
    profile = {"sm__lds_latency": "20 cycles", "sm__ffma_latency": "4 cycles"}
    assert cycles(Mix(ffma=100, lds=10, ilp=8), warps, **profile) == pytest.approx(expected, abs=1.0)


@pytest.mark.parametrize(("ahead", "expected"), [(0, 300), (8, 220), (20, 110), (40, 110)])
def test_loads_ahead_of_their_use_stall_for_less(ahead, expected):
    """One warp: 100 FFMAs + 10 × (20 - ahead) of latency, and the slots of the loads where they are not in it."""
    mix = Mix(ffma=100, lds=10, ilp=4, load_to_use=ahead)
    found = cycles(mix, 4, sm__lds_latency="20 cycles", sm__ffma_latency="4 cycles")
    assert found == pytest.approx(expected, abs=10.1)


@pytest.mark.parametrize(("warps", "bias", "within"), [(4, 0.03, 0.10), (8, 0.01, 0.05), (16, 0.02, 0.03)])
def test_loads_ahead_are_hidden_as_on_the_h200(warps, bias, within):
    """Bench `ahead`, 1, 2 and 4 warps on a scheduler, by the counts of its machine code, on average."""
    model = ComputeModel(load_profile("h200_sxm"))
    off, found = [], rows("ahead")
    for row in found:
        sass = next(
            other["sass"] for other in found
            if other["sass"] and all(other[name] == row[name] for name in ("fmas", "loads", "ahead"))
        )  # fmt: skip
        others = sass["instructions"] - row["fmas"] - row["loads"]
        mix = Mix(ffma=row["fmas"], lds=row["loads"], interleaved=others, ilp=16, loads_in_flight=sass["in_flight"],
                  load_to_use=sass["to_use"])  # fmt: skip
        cost = model.cost(mix)
        if row["warps"] == warps:
            data = warps * max(cost.data, cost.requests)
            off.append(max(cost.together(warps // 4, 4), data) / row["cycles_per_turn"] - 1.0)
    assert len(off) == 27
    assert abs(statistics.fmean(off)) < bias
    assert statistics.fmean(map(abs, off)) < within


SHARED = {"sm__shared_bandwidth": "128 B/cycle", "sm__lds_latency": "20 cycles", "sm__ffma_latency": "4 cycles"}
LOAD_AND_COMPUTE = Compute(Mix(ffma=50, lds=1, ilp=1))


@pytest.mark.parametrize("warps", [1, 4, 8])
def test_the_last_warp_computes_when_it_has_its_data(warps):
    """4 cycles of shared memory for each warp's load, then 20 of latency and its own 50 FFMAs at 4 cycles each."""
    program = one_role(LOAD_AND_COMPUTE, SyncThreads(), warps=warps)
    assert total_ns(program, textbook(**SHARED)) == pytest.approx(4 * (warps - 1) + 20 + 200)


def test_warps_that_are_apart_do_not_queue_again():
    """A second load like the first finds the warps as far from each other as it takes: no further 4 × 7 cycles."""
    once, twice = (
        total_ns(one_role(*[LOAD_AND_COMPUTE] * times, SyncThreads(), warps=8), textbook(**SHARED)) for times in (1, 2)
    )
    assert twice - once == pytest.approx(220)


def test_warps_that_are_apart_find_the_barrier_free():
    """Arrivals of 3 cycles each queue if all come at once: 8 × 3; of those that come 4 apart none does."""
    device = textbook(**SHARED, barrier__arrive_per_warp="3 cycles")
    assert total_ns(one_role(SyncThreads(), warps=8), device) == pytest.approx(24)
    loads = Compute(Mix(lds=1))
    assert total_ns(one_role(loads, SyncThreads(), warps=8), device) == pytest.approx(4 * 7 + 20)


@pytest.mark.parametrize(("lane_bytes", "conflict", "expected"), [(4, 1, 1600), (16, 1, 6400), (4, 2, 3200)])
def test_shared_memory_delivers_128_bytes_a_cycle(lane_bytes, conflict, expected):
    """16 warps × 100 loads × (32 × lane bytes / 128) wavefronts × conflict."""
    mix = Mix(lds=100, lds_bytes=lane_bytes, bank_conflict=conflict, loads_in_flight=100)
    assert cycles(mix, 16, sm__shared_bandwidth="128 B/cycle") == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("wavefronts", "expected"), [(0, 6400), (1, 3200), (2, 3200), (4, 6400)])
def test_lanes_that_load_the_same_words_are_served_together(wavefronts, expected):
    """16 warps × 100 loads × wavefronts, of 16 bytes a lane; the request alone takes 512 / 256 = 2 cycles."""
    mix = Mix(lds=100, lds_bytes=16, lds_wavefronts=wavefronts, loads_in_flight=100)
    device = {"sm__shared_bandwidth": "128 B/cycle", "lsu__request_bandwidth": "256 B/cycle"}
    assert cycles(mix, 16, **device) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("warps", "expected"), [(4, 165), (16, 660)])
def test_stalls_of_registers_and_pipes_take_issue_slots(warps, expected):
    """⌈warps / 4⌉ × (100 + (40 + 10) × 1.3) cycles."""
    mix = Mix(ffma=100, register_conflicts=40, pipe_stalls=10)
    assert cycles(mix, warps, sm__dispatch_stall="1.3 cycles") == pytest.approx(expected)


@pytest.mark.parametrize(("warps", "expected"), [(1, 30 + 30), (16, 16 * 12 * 2)])
def test_constants_are_loaded_one_after_the_other_over_the_whole_sm(warps, expected):
    """One warp sees the latency and its 30 instructions; those of 16 warps take two cycles each."""
    mix = Mix(interleaved=30, ldc=12)
    device = {"sm__ldc_interval": "2 cycles", "sm__ldc_latency": "30 cycles"}
    assert cycles(mix, warps, **device) == pytest.approx(expected)


def test_shared_loads_and_global_loads_share_a_data_path():
    """Eight warps × 200 wavefronts from shared memory, beside eight warps × 50 loads of 512 bytes: 1600 + 1600."""

    def reads(_tiles):
        yield Compute(Mix(lds=200, lds_bytes=4, loads_in_flight=200))

    def moves(_tiles):
        yield Load(8 * 50 * 512)

    program = kernel(Role("reader", 8, reads), Role("mover", 8, moves))
    device = {"sm__shared_bandwidth": "128 B/cycle", "lsu__ldg_data_interval": "1 cycles"}
    unlimited = {"lsu__bandwidth": "1 MB/cycle", "sm__port_bandwidth": "1 MB/cycle"}
    assert total_ns(program, textbook(**device, **unlimited)) == pytest.approx(3200, rel=0.02)


def test_special_functions_have_their_own_rate():
    """10 × 8 cycles, hidden under 200 FFMAs only by other warps."""
    assert cycles(Mix(mufu=10), sm__mufu_issue_interval="8 cycles") == pytest.approx(80)


@pytest.mark.parametrize(("warps", "expected"), [(1, 120), (8, 120), (16, 120), (32, 240)])
def test_code_around_the_loop_waits_for_each_instruction(warps, expected):
    """T = max(30 × 4, 30 × warps per scheduler): addresses and branches in a row, 4 cycles each."""
    assert cycles(Mix(setup=30), warps, sm__setup_latency="4 cycles") == pytest.approx(expected)


@pytest.mark.parametrize(("mix", "expected"), [
    (Mix(ffma=100, divergent_branches=2), 120), (Mix(ffma=100, alone=130, divergent_branches=1), 140),
    (Mix(ffma=100, divergent_syncwarps=1), 160), (Mix(), 0),
])  # fmt: skip
def test_lanes_that_part_ways_wait_for_each_other(mix, expected):
    """Ten cycles where a branch ends and sixty at __syncwarp, beside what the instructions take."""
    device = {"sm__divergent_branch": "10 cycles", "sm__divergent_syncwarp": "60 cycles"}
    assert cycles(mix, 1, **device) == pytest.approx(expected)


@pytest.mark.parametrize(("warps", "expected"), [(1, 100), (16, 400)])
def test_interleaved_instructions_take_a_slot_and_no_more(warps, expected):
    """⌈warps / 4⌉ × (60 FFMAs and 40 others), which nobody waits for."""
    assert cycles(Mix(ffma=60, interleaved=40), warps, sm__control_latency="4 cycles") == pytest.approx(expected)


@pytest.mark.parametrize(("warps", "expected"), [(1, 40), (4, 160), (16, 640)])
def test_accesses_that_no_lane_executes_take_turns_on_the_whole_sm(warps, expected):
    """One load-store unit: 40 accesses of each warp, one a cycle."""
    assert cycles(Mix(masked=40), warps, lsu__masked_interval="1 cycles") == pytest.approx(expected)


def test_barriers_take_issue_slots_of_the_warps_that_compute():
    """Two warps of a scheduler that meet twice before 100 FFMAs each: 2 × (100 + 2), not 2 × 100."""
    ops = (SyncThreads(), SyncThreads(), Compute(Mix(ffma=100)))
    ns = total_ns(one_role(*ops, warps=8), textbook(barrier__issue="1 cycles"))
    assert ns == pytest.approx(204)


def test_resident_ctas_share_the_schedulers():
    """Two CTAs of four warps on each SM take as long together as one after the other: 2 × 128."""
    one = one_role(Compute(Mix(ffma=128)), warps=4, grid=264)
    together, in_turn = (total_ns(padded(one, n)) for n in (2, 1))
    assert together == pytest.approx(256)
    assert in_turn == pytest.approx(256)


def test_the_last_wave_is_packed_where_ctas_end_together():
    """Two CTAs an SM that share the slots evenly: 396 of them take as long as 528, 256 + 256, and not 256 + 128."""
    one = padded(one_role(Compute(Mix(ffma=128)), warps=4, grid=396), 2)
    assert total_ns(one) == pytest.approx(512)
    assert total_ns(one, textbook(sm__warps_served=1)) == pytest.approx(384)


def test_an_idle_sm_costs_nothing():
    """132 CTAs on 132 SMs take as long as one."""
    mix = Compute(Mix(ffma=128))
    assert total_ns(one_role(mix, grid=132)) == pytest.approx(total_ns(one_role(mix)))


def test_empty_program_takes_no_time():
    """A role without ops, and an op without instructions."""
    assert total_ns(one_role()) == 0
    assert cycles(Mix()) == 0
