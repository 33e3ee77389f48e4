"""Atomics on global memory, against closed forms (textbook device, stores at 32 B/cycle) and the microbenchmark."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gpusim.hardware import load_profile, simulate_kernel
from gpusim.hardware.memory.atomics import interval_s, updates_of
from gpusim.hardware.memory.traffic import Traffic
from gpusim.program import Atomic, Compute, Load, Mix, Store
from gpusim.program.kernel import Role
from tests.bench_rows import rows
from tests.tile_programs import NS, kernel, one_role, textbook, total_ns

SMS = 132
THERE = Atomic(4096, l2_hit=1.0)
WIDTHS = {"u32": 4, "f32": 4, "v4.f32": 16}
FREE = {"lsu__ldg_interval": "0 cycles", "lsu__atomic_interval": "0 cycles"}


def took_ns(*ops, grid=1, warps=1, **overrides):
    """Nanoseconds of a role of so many warps on a textbook device, beyond a cycle to issue each dense instruction.

    What is scattered is sent while it is issued.
    """
    issued = sum(op.bytes / (32 * op.width) for op in ops if not op.scatter) / min(ops[0].warps or warps, 4)
    return total_ns(one_role(*ops, warps=warps, grid=grid), textbook(**FREE, **overrides)) - issued


class TestOneSm:
    """What an SM sends."""

    def test_lanes_side_by_side_are_their_bytes_and_a_request_for_each_line(self):
        """4 KiB are 32 lines of 128 bytes, each with 32 bytes more."""
        assert took_ns(Atomic(4096), lsu__atomic_request_bytes="32 B") == pytest.approx((4096 + 32 * 32) / 32)

    def test_lanes_that_go_their_own_ways_are_a_request_each(self):
        """1024 lanes of 4 bytes."""
        op = Atomic(4096, scatter=4)
        assert took_ns(op, lsu__atomic_request_bytes="28 B") == pytest.approx(1024 * (4 + 28) / 32)

    def test_a_warp_alone_issues_one_in_so_many_cycles(self):
        """Eight instructions."""
        found = [total_ns(one_role(Atomic(1024)), textbook(lsu__atomic_interval=f"{n} cycles")) for n in (20, 10)]
        assert found[0] - found[1] == pytest.approx(8 * 10)

    def test_who_does_not_wait_goes_on(self):
        """Of two behind each other old values cost their latency twice, and nothing if nobody wants them."""
        for returns, waits in ((False, 0), (True, 2)):
            ops = [Atomic(128, returns=returns)] * 2
            near, far = (took_ns(*ops, lsu__atomic_latency=f"{n} cycles") for n in (0, 300))
            assert far - near == pytest.approx(300 * waits)

    def test_nothing_and_warps_that_do_not_take_part_cost_nothing(self):
        """As loads and stores of none."""
        assert took_ns(Atomic(0)) == took_ns(Load(0, wait=False, width=4))
        assert took_ns(Atomic(4096, warps=1), warps=4) == pytest.approx(took_ns(Atomic(4096)))


class TestAllSms:
    """What L2 does."""

    def test_the_way_into_l2_is_full(self):
        """Bytes and requests of all SMs at its bandwidth, which stores share."""
        limits = {"l2__write_bandwidth": "1 TB/s", "lsu__atomic_request_bytes": "32 B"}
        one = SMS * (4096 + 32 * 32) / 1e12 / NS
        assert took_ns(THERE, grid=SMS, **limits) == pytest.approx(one)
        both = took_ns(THERE, Store(4096, width=4, l2_hit=1.0), grid=SMS, **limits)
        # The stores are issued, a cycle each, while the updates are sent.
        assert both + 32 == pytest.approx(one + SMS * 4096 / 1e12 / NS)

    def test_sectors_that_are_updated_in_part_take_a_slice_of_l2(self):
        """32 bytes of the rate for each lane; lanes side by side are told by the way into L2 alone."""
        limits = {"l2__atomic_bandwidth": "1 TB/s"}
        apart = took_ns(replace(THERE, scatter=4), grid=SMS, **limits)
        assert apart == pytest.approx(SMS * 1024 * 32 / 1e12 / NS)
        assert took_ns(THERE, grid=SMS, **limits) == pytest.approx(128)

    def test_old_values_have_a_way_of_their_own(self):
        """With as many bytes as the updates."""
        back = took_ns(Atomic(4096, returns=True), grid=SMS, l2__atomic_return_bandwidth="1 TB/s")
        assert back == pytest.approx(SMS * 4096 / 1e12 / NS)

    @pytest.mark.parametrize("scatter", [0, 4])
    def test_one_value_is_updated_by_one_lane_after_the_other(self, scatter):
        """1024 lanes of each SM, 2 ns each; of floating point 5."""
        limits = {"l2__atomic_interval": "2 ns", "l2__atomic_float_interval": "5 ns", "l2__atomic_spread": "512 B"}
        op = Atomic(4096, scatter=scatter, distinct=4)
        sector = 32 / 1e15 / NS if scatter else 0.0
        for floating, each in ((False, 2), (True, 5)):
            found = took_ns(replace(op, floating=floating), grid=SMS, **limits)
            assert found == pytest.approx(SMS * 1024 * (each + sector))

    def test_further_bytes_are_other_slices(self):
        """From 512 bytes on each 512 more work beside them; lanes side by side update four sectors at once."""
        limits = {"l2__atomic_interval": "2 ns", "l2__atomic_float_interval": "2 ns", "l2__atomic_spread": "512 B"}
        for distinct, slices in ((128, 1), (512, 1), (2048, 4), (16384, 32)):
            found = took_ns(Atomic(4096, distinct=distinct), grid=SMS, **limits)
            assert found == pytest.approx(SMS * 128 * 2 / slices)

    def test_an_sm_sends_one_after_the_other(self):
        """Stores of another role wait behind a counter."""
        limits = {"l2__atomic_interval": "2 ns", "l2__atomic_float_interval": "2 ns", "l2__atomic_spread": "32 B"}
        one = Role("one", 1, lambda _tiles: iter([Atomic(4096, distinct=4)]))
        other = Role("other", 1, lambda _tiles: iter([Compute(Mix(ffma=100)), Store(4096)]))
        both, alone = (
            total_ns(kernel(*roles, grid=SMS), textbook(**FREE, **limits)) for roles in ((one, other), (one,))
        )
        assert both - alone == pytest.approx(128)

    def test_what_l2_lacks_is_read_and_written_back(self):
        """One after the other, and the slices wait; distinct bytes that L2 has room for are there."""
        limits = {"hbm__read_bandwidth": "0.1 TB/s", "hbm__write_bandwidth": "0.1 TB/s"}
        missed = SMS * 4096 * 2 / 1e11 / NS
        assert took_ns(Atomic(4096), grid=SMS, **limits) == pytest.approx(missed, rel=0.02)
        assert took_ns(THERE, grid=SMS, **limits) == pytest.approx(128)
        room = {**limits, "l2__written_capacity": "1 MiB"}
        assert took_ns(Atomic(4096, distinct=4096), grid=SMS, **room) == pytest.approx(128)


class TestUpdates:
    """Requests and sectors, by where lanes lie."""

    @pytest.mark.parametrize(
        ("where", "requests", "sectors"),
        [
            ({"width": 4}, 1, 4),
            ({"width": 16}, 4, 16),
            ({"width": 4, "scatter": 4}, 32, 32),
            ({"width": 4, "scatter": 32}, 4, 4),
            ({"width": 4, "stride": 32}, 8, 32),
            ({"width": 4, "distinct": 4}, 32, 32),
            ({"width": 4, "distinct": 64}, 2, 4),
            ({"width": 4, "distinct": 128}, 1, 4),
            ({"width": 4, "scatter": 4, "distinct": 4}, 32, 32),
            ({"width": 4, "scatter": 4, "distinct": 1 << 30}, 32, 32),
        ],
    )
    def test_of_an_instruction(self, where, requests, sectors):
        """Each place once, and what meets there one after the other."""
        found = updates_of(**where)
        each = 32 * where["width"]
        assert (found.requests * each, found.sectors * each) == pytest.approx((requests, sectors), rel=1e-4)

    def test_lanes_at_random_meet_in_sectors(self):
        """Of 32 lanes among 32 words of four sectors about eleven updates are left; a random sample says the same."""
        chance = np.random.default_rng(1)
        for words in (32, 256, 1024):
            picked = chance.integers(words, size=(4000, 32))
            counts = np.stack([np.bincount(lanes, minlength=words) for lanes in picked])
            sampled = counts.reshape(4000, -1, 8).max(axis=2).sum(axis=1).mean()
            assert updates_of(4, 0, 4, 4 * words).sectors * 128 == pytest.approx(sampled, rel=0.07)


H200 = load_profile("h200_sxm")


@cache
def per_us(kind, returns, pattern, size, sms, ctas, warps):
    """Instructions of a row of the bench that the H200 is predicted to do in a microsecond."""
    width = WIDTHS[kind]
    where = {"lanes": {"scatter": width}, "sectors": {"scatter": 32}}.get(pattern, {})
    op = Atomic(
        4 * 32 * width * warps, width=width, returns=returns, floating=kind != "u32",
        distinct=size if size < 1 << 20 else 0, l2_hit=0.0 if size == 1 << 30 else 1.0, **where,
    )  # fmt: skip
    tiles = 12 if size < 1 << 20 else 60

    def seconds(count):
        body = lambda number: (replace(op, tile=tile) for tile in range(number))  # noqa: E731
        program = kernel(Role("worker", warps, body), tiles=count, grid=ctas)
        return simulate_kernel(program, H200, trace=False).total_s

    return ctas * warps * 4 * tiles / (seconds(2 * tiles) - seconds(tiles)) * 1e-6


FLOODS = [
    row for row in rows("atomics", kind="flood")
    if row["pattern"] != "warps" and not (row["returns"] and row["warps"] == 1 and row["pattern"] == "lanes")
]  # fmt: skip


@pytest.mark.parametrize(
    "row",
    FLOODS,
    ids=lambda row: f"{row['type']}-{row['pattern']}-{row['range']}-{row['sms']}-{row['warps']}-{row['returns']}",
)
def test_the_bench_is_as_fast_as_predicted(row):
    """Within 12 %, and where lanes go round eight lines side by side within 19.

    One warp that waits for 128 sectors is left out: it is predicted 38 % too fast.
    """
    found = per_us(*(row[key] for key in ("type", "returns", "pattern", "range", "sms", "ctas", "warps")))
    worst = 0.19 if (row["range"], row["pattern"]) == (1024, "side_by_side") else 0.12
    assert found == pytest.approx(row["instructions_per_us"], rel=worst)


@pytest.mark.parametrize("kind", ["u32", "f32"])
def test_values_that_all_sms_update_take_as_long_as_measured(kind):
    """From one value to 4 MiB of them, all lanes of a warp on one: within 18 %, but for 512 bytes of integers.

    These lie in two slices of L2, as twice as many bytes do.
    """
    off = sorted(
        abs(32 * interval_s(H200, row["range"], kind == "f32", True) * row["instructions_per_us"] * 1e6 - 1.0)
        for row in rows("atomics", kind="flood", pattern="warps", type=kind, returns=False)
    )
    assert off[-1 if kind == "f32" else -2] < 0.18


def test_updates_and_what_comes_from_dram_share_the_way_into_l2():
    """Each warp loads 2 KiB from DRAM and then updates as much, or half: both times add up, within 14 %."""
    for row in rows("atomics", kind="beside"):
        size = 2048 * row["warps"]

        def body(tiles, updated=row["updates"] / 4 * size, size=size, warps=row["warps"]):
            for tile in range(tiles):
                yield Load(size, pieces=4 * warps, tile=tile)
                yield Atomic(round(updated), width=16, floating=True, l2_hit=1.0, tile=tile)

        took = [
            simulate_kernel(
                kernel(Role("worker", row["warps"], body), tiles=tiles, grid=row["ctas"]), H200, trace=False
            ).total_s
            for tiles in (32, 64)
        ]  # fmt: skip
        assert 32 * size * row["ctas"] / (took[1] - took[0]) == pytest.approx(row["loaded_bytes_per_s"], rel=0.14)


def test_other_kernels_need_no_quantity_of_atomics():
    """A device of one's own that states none runs them, and they take as long."""
    quantities = {key: number for key, number in H200.quantities.items() if ".atomic" not in key}
    assert len(quantities) == len(H200.quantities) - 8
    program = one_role(Load(4096), Store(4096), warps=4, grid=SMS)
    assert total_ns(program, replace(H200, quantities=quantities)) == total_ns(program, H200)


def test_updated_bytes_are_counted_as_written():
    """Of the whole grid."""
    traffic = Traffic.of(one_role(Atomic(4096), grid=SMS))
    assert (traffic.written_bytes, traffic.read_bytes) == (SMS * 4096, 0)
