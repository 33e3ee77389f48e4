"""What is found again in L2: the constants follow from the microbenchmarks they are said to come from."""

from __future__ import annotations

from math import inf

import pytest

from gpusim.hardware import load_profile
from gpusim.hardware.memory.access import GRANULE_BYTES
from realkernels._parts.l2 import HELD_BYTES, again_hit, random_hit, rewritten_hits, sweep_hit
from tests.bench_rows import rows

MIB = 1 << 20


def test_hits_of_random_reads_are_those_counted() -> None:
    """Counted bytes from DRAM between a run and one twice as long, by pieces of half a line and of a whole one."""
    found: dict[tuple[int, int], list[dict]] = {}
    for row in rows("hits"):
        found.setdefault((row["piece_bytes"], row["footprint_bytes"]), []).append(row)
    assert len(found) == 18
    for (piece_bytes, footprint), (short, long) in found.items():
        fetched = max(piece_bytes, GRANULE_BYTES)
        missed = (long["dram_bytes"] - short["dram_bytes"]) / (long["reads"] - short["reads"]) / fetched
        expected = random_hit(footprint, piece_bytes=fetched)
        assert expected == pytest.approx(1.0 - missed, abs=0.035), (piece_bytes, footprint)


def test_what_the_launch_before_has_left_is_what_was_counted() -> None:
    """Of launches that read and write: bytes that DRAM did not see, of those read and of those written."""
    again = [row for row in rows("dirty") if row["before"] == "same" and row["reads"]]
    assert len(again) == 33
    for row in again:
        read, written = row["read_bytes"], row["written_bytes"]
        expected = again_hit(read + written)
        assert expected == pytest.approx(1.0 - row["dram_read_bytes"] / read, abs=0.12), row
        assert expected == pytest.approx(1.0 - row["dram_written_bytes"] / written, abs=0.12), row


def test_what_is_kept_of_rewritten_lines_is_what_was_counted() -> None:
    """Bytes that DRAM did not see of 8 to 83 MiB which every warp reads and writes back again and again."""
    counted = rows("rewritten", op="rewrite")
    assert len(counted) == 14
    for row in counted:
        found, kept = rewritten_hits(row["footprint_bytes"])
        assert found == pytest.approx(1.0 - row["dram_read"], abs=0.15), row
        assert kept == pytest.approx(1.0 - row["dram_written"], abs=0.15), row


def test_hits_of_sweeps_are_those_measured() -> None:
    """Sweeps over 44 to 96 MiB, the first to the 19th after the one that fetched all: what HBM alone could not bring.

    Hits beyond one half do not show, because L2 is no faster than twice HBM. Within 0.06 on average, 0.2 at worst:
    the second half of what is hit of 48 to 64 MiB comes sooner than here.
    """
    off = []
    for row in rows("sweeps"):
        size, rates = row["footprint_bytes"], row["bytes_per_cycle_per_sm"]
        if row["loads"] == 4 and size >= 44 * MIB:
            off += [
                min(sweep_hit(size, before), 0.5) - min(1.0 - rates[0] / rates[before], 0.5) for before in range(1, 20)
            ]
    assert len(off) == 7 * 19
    assert max(map(abs, off)) < 0.21
    assert sum(map(abs, off)) / len(off) < 0.07


def test_hits_fall_with_the_distance() -> None:
    """All of what L2 holds; of more, none the first time and as at random after many."""
    assert sweep_hit(32 * MIB, 1.0) == sweep_hit(32 * MIB, inf) == 1.0
    assert sweep_hit(64 * MIB, 1.0) < 0.02
    assert sweep_hit(64 * MIB, inf) == random_hit(64 * MIB)
    for before in (1.0, 7.0, inf):
        distances = [sweep_hit(size * MIB, before) for size in range(30, 200)]
        assert distances == sorted(distances, reverse=True)
    assert load_profile("h200_sxm").value("l2.capacity") > HELD_BYTES


def test_nothing_is_hit_before_it_was_fetched() -> None:
    """Hits begin at none and grow with what came in, until L2 holds no more."""
    assert random_hit(64 * MIB, 0.0) == 0.0
    assert random_hit(64 * MIB, 8 * MIB) == pytest.approx(1 / 8, rel=0.1)
    assert random_hit(64 * MIB, 1 << 40) == random_hit(64 * MIB)
