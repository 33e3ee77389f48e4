"""Kernels of many more blocks than find room."""

from __future__ import annotations

import pytest

from gpusim.host import simulate_host
from gpusim.host.device.block_times import BlockTimes
from gpusim.program import host as ops
from gpusim.timeline import KINDS
from tests.host.profiles import textbook

STREAMS = tuple(ops.Stream(name, "non_blocking", priority) for name, priority in (("a", 0), ("b", 0), ("high", -5)))
SMS = int(textbook().value("sm.count"))
ROUND_S = 100e-6
MANY = 1_000_000


def kernel(rounds, name, *, cost=ROUND_S, threads=1024, blocks=SMS * 2):
    """So many rounds of all the blocks that find room."""
    return ops.Work(ops.FixedCost(cost) if isinstance(cost, float) else cost, rounds * blocks, threads, name=name)


@pytest.fixture
def placed(monkeypatch):
    """What is placed."""
    found, run = [], BlockTimes.run

    def noted(self, blocks, ended):
        found.append(blocks)
        run(self, blocks, ended)

    monkeypatch.setattr(BlockTimes, "run", noted)
    return found


def predicted(*calls):
    return simulate_host(ops.HostProgram("test", (ops.HostThread("t", calls),), STREAMS), textbook())


@pytest.mark.parametrize("cost", [ROUND_S, ops.RooflineCost(0.0, 1e12)], ids=["fixed", "by bytes"])
def test_rounds_that_are_alike_are_few_events(placed, cost):
    """A million of them, thousands at most for a duration that depends on others."""
    predicted(ops.Launch(kernel(MANY, "k", cost=cost), "a"))
    assert len(placed) < (10 if isinstance(cost, float) else 10_000)
    assert sum(blocks.count * blocks.rounds for blocks in placed) == MANY * SMS * 2


def test_they_take_as_long_as_one_after_the_other():
    """Ten times as many rounds, ten times as long."""
    ten, hundred = (predicted(ops.Launch(kernel(rounds, "k"), "a")).total_s for rounds in (1000, 10_000))
    assert hundred == pytest.approx(10.0 * ten, rel=1e-3)


def kernels(timeline):
    """Starts and ends, by stream."""
    chosen = timeline.kind == KINDS.index("kernel")
    lanes = [timeline.lanes[lane] for lane in timeline.lane[chosen]]
    return dict(zip(lanes, zip(timeline.start_s[chosen], timeline.end_s[chosen], strict=True), strict=True))


def test_a_higher_priority_comes_with_the_next_round():
    """And what was to follow comes behind it."""
    calls = ops.Launch(kernel(1000, "long"), "a"), ops.HostWork(10.5 * ROUND_S), ops.Launch(kernel(1, "short"), "high")
    found = kernels(predicted(*calls))
    assert 11 * ROUND_S < found["stream[2]"][1] < 13 * ROUND_S
    assert found["stream[0]"][1] == pytest.approx(1001 * ROUND_S, rel=0.02)


def test_the_next_kernel_has_its_turn_at_the_end_only():
    """Although its blocks would find room beside those of the first."""
    long, small = kernel(1000, "long", threads=800), kernel(1, "small", threads=32, blocks=1)
    found = kernels(predicted(ops.Launch(long, "a"), ops.Launch(small, "b")))
    assert found["stream[1]"][0] > 990 * ROUND_S
