"""L2 has one way in, for writes and for what comes from DRAM, and one out, for what is read."""

from __future__ import annotations

import pytest

from gpusim.program import Load, Role, Store, WaitLoads
from tests.bench_rows import rows
from tests.tile_programs import kernel, textbook, total_ns

SIZE, TILES = 64 << 10, 8
SLOW = {"l2__read_bandwidth": "132 GB/s", "l2__write_bandwidth": "66 GB/s"}
"""An SM's share: one byte a nanosecond out, half of one in."""
READ, WRITE = Load(SIZE, wait=False, l2_hit=1.0), Store(SIZE, l2_hit=1.0)


def each_ns(*ops, **device):
    """Nanoseconds per tile of one CTA on each SM, whose loads and stores are all under way at once."""

    def body(tiles):
        for _ in range(tiles):
            yield from ops
        yield WaitLoads()

    return total_ns(kernel(Role("worker", 4, body), tiles=TILES, grid=132), textbook(**SLOW, **device)) / TILES


def test_reads_and_writes_that_hit_do_not_share_a_way():
    """Together they take as long as the slower of them."""
    assert each_ns(READ) == pytest.approx(SIZE, rel=0.02)
    assert each_ns(WRITE) == pytest.approx(2 * SIZE, rel=0.02)
    assert each_ns(READ, WRITE) == pytest.approx(2 * SIZE, rel=0.02)


def test_requests_of_reads_take_a_little_of_the_way_in():
    """Each line as much as 64 written bytes."""
    assert each_ns(READ, WRITE, l2__read_command_bytes="64 B") == pytest.approx(3 * SIZE, rel=0.02)


def test_what_comes_from_dram_takes_the_way_in():
    """As much as if it were written."""
    from_dram = Load(SIZE, wait=False)
    took = each_ns(from_dram, WRITE, l2__fill_weight=1.0, l2__read_command_bytes="1 B")
    assert took == pytest.approx(4 * SIZE, rel=0.02)


def test_measured_ways_are_two():
    """Three bytes out for each one in come as quickly as without; alone in comes half as much as alone out."""
    fastest: dict[tuple[int, int], float] = {}
    for row in rows("l2"):
        if row["kind"] == "both":
            mix = row["reads"], row["writes"]
            fastest[mix] = max(fastest.get(mix, 0.0), row["bytes_per_cycle"])
    assert fastest[3, 1] * 3 / 4 > 1.05 * fastest[1, 0]
    assert fastest[1, 1] > 1.7 * fastest[0, 1]
