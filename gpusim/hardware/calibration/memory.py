"""From microbenchmarks to the quantities of copies and memory: TMA, LSU, L2, HBM.

Each function isolates one mechanism; its docstring says which benches and how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.hardware.memory.access import LINE_BYTES
from gpusim.hardware.memory.loaded_latency import among_loads

__all__ = ["BELOW_SATURATION", "HOP_INSTRUCTIONS", "MEMORY_STEPS", "stream_bandwidth"]

HOP_INSTRUCTIONS = 3
"""Between a wait and the arrival behind it in the bench `skeleton`, by its machine code; the rest comes later."""

BELOW_SATURATION = 0.97
"""Utilisation of HBM beyond which latency says only how many wait."""
_LONG_BYTES = 32 << 10
"""A copy that takes HBM for longer than any other gets ahead of it."""
_BEHIND_CYCLES = 150, 300, 600
"""How long after it others are asked for, of which all requests are behind and many get ahead."""


def _bulk_latency(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """Bulk copies of one SM that nothing waits behind: rate of the unit, latency against size in L2 and DRAM.

    What DRAM adds grows with the lines of 128 bytes whose slowest is waited for, and is settled from 64 on.
    """

    def latency(source: str) -> dict[int, float]:
        return {row["bytes"]: row["cycles_mean"] for row in b.rows("tma", kind="latency", source=source)}

    near, far = latency("l2"), latency("dram")
    sizes = np.array([size for size in sorted(near) if size >= 4096], dtype=float)
    per_byte, _ = np.polyfit(sizes, [near[int(size)] for size in sizes], 1)
    rate = max(row["bytes_per_cycle_per_sm"] for row in b.rows("tma", kind="ring", source="l2", ctas=1))
    expect = b.one("barrier", "cycles", kind="mbarrier", op="expect_tx")
    latency_in_l2 = near[1024] - 1024 / rate - found["mbarrier.wake"].value - expect
    lines = np.array([size / LINE_BYTES for size in sorted(far) if size >= LINE_BYTES])
    extra = np.array([far[int(size * LINE_BYTES)] - near[int(size * LINE_BYTES)] for size in lines])
    one, many = float(extra[0]), float(np.mean(extra[lines >= 64]))
    scale = _best(
        lambda s: np.abs(one + (many - one) * (1 - np.exp(-(lines - 1) / s)) - extra).sum(), np.geomspace(4, 200, 60)
    )
    return {
        "tma.bandwidth": Measured(rate, "B/cycle", "tma (ring, L2, one SM)", abs(1 / per_byte - rate)),
        "tma.l2_latency": Measured(latency_in_l2, "cycles", "tma (latency, L2)"),
        "dram.latency_many_lines": Measured(many, "cycles", "tma (latency, DRAM less L2, 64 lines and more)"),
        "dram.many_lines": Measured(float(scale), "", "tma (latency against lines)"),
    }


def _bulk_issue(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """What a warp is busy for that asks for bulk copies, and when the unit has the request.

    The latter from a hand-over with one stage: the copy is asked for, arrives, wakes the consumer, which soon arrives
    at the producer's barrier. What is left of a turn without these is the time until the unit has the request.
    """

    def turn(stages: int) -> float:
        return b.one("skeleton", "cycles_per_turn", kind="hand_over", bytes=16, stages=stages, ctas=1,
                     consumer_warps=1)  # fmt: skip

    value = {key: number.value for key, number in found.items()}
    per_warp, wake = value["mbarrier.per_warp"], value["mbarrier.wake"]
    hop = sum(value[f"mbarrier.{part}"] for part in ("arrive_interval", "arrive_latency", "wake", "per_warp"))
    between = HOP_INSTRUCTIONS * value["sm.setup_latency"]
    submit = turn(1) - value["tma.l2_latency"] - 16 / value["tma.bandwidth"] - (wake + per_warp) - between - hop
    issue = turn(8) - value["mbarrier.poll"] - per_warp
    queued = {row["copies"]: row["cycles_median"] for row in b.rows("tma", kind="issue", bytes=128)}
    return {
        "tma.submit": Measured(submit, "cycles", "skeleton (hand-over of one stage with a copy, less its parts)"),
        "tma.issue": Measured(issue, "cycles", "skeleton (hand-over that never waits, less one poll)"),
        "tma.issue_again": Measured(
            (queued[64] - queued[32]) / 32.0,
            "cycles",
            "tma (issue: 32 and 64 copies announced together)",
        ),
        "tma.issue_elected": Measured(
            (_elected_round(b, 32) - _elected_round(b, 8)) / 24.0,
            "cycles",
            "elected (rounds of 8 and 32 lanes, nothing beside them)",
        ),
    }


def _elected_round(b: Benches, lanes: int) -> float:
    """Cycles in which each of so many lanes issues one copy, with the code around the loop over the lanes."""
    took = {row["copies"]: row["cycles_median"] for row in b.rows("elected", lanes=lanes, warps=0)}
    return (took[64] - took[32]) * lanes / 32.0


def _overtaking(b: Benches, _: dict) -> dict[str, Measured]:
    """How much later the slowest line of a copy comes if other copies are asked for right behind it.

    All SMs ask at once, one CTA of each a while after the other: long enough that its requests are behind, and early
    enough that the first ones are still under way.
    """
    rows = [row for row in b.rows("overtaking", copies=1) if row["bytes"] == _LONG_BYTES]
    took = {
        (row["unit"], row["ctas_per_sm"], row["delay_cycles"]): row["arrived_cycles"][0] - row["asked_cycles"][0]
        for row in rows
    }
    units = sorted({unit for unit, _, _ in took})
    later = [took[unit, 2, delay] - took[unit, 1, 0] for unit in units for delay in _BEHIND_CYCLES]
    source = f"overtaking ({_LONG_BYTES >> 10} KiB, another {_BEHIND_CYCLES[0]} to {_BEHIND_CYCLES[-1]} cycles behind)"
    per_ns = b.file("overtaking")["clock_hz"] / 1e9
    return {"hbm.overtaking": Measured(float(np.mean(later)) / per_ns, "ns", source, float(np.std(later)) / per_ns)}


def _lsu(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """ld.global and cp.async through L1: latency, rate, and the interval of one warp's instructions."""
    group_wait = b.one("cpasync", "wait_cycles", kind="group", lane_bytes=16, warps=1, copies=1, source="l2")

    def interval(access: str) -> np.ndarray:
        """Cycles from one to the next of a warp that is alone, for each width: from 4 to 16 of them."""
        cycles = {(row["lane_bytes"], row["count"]): row["cycles"] for row in b.rows("in_a_row", access=access)}
        return np.array([(cycles[width, 16] - cycles[width, 4]) / 12.0 for width in (4, 8, 16)])

    loads, copies = interval("ld.global"), interval("cp.async")
    rate = max(row["bytes_per_cycle_per_sm"] for row in b.rows("ldg", sms=1, source="l2", store_shared=False))
    near = b.one("latency", "cycles", bytes=16 * 1024, bypass_l1=False)
    chase, far = (b.one("latency", "cycles", bytes=size << 20, bypass_l1=True) for size in (4, 40))
    return {
        "lsu.ldg_interval": Measured(float(loads.mean()), "cycles", "in_a_row (ld.global)", float(loads.std())),
        "lsu.cp_async_interval": Measured(float(copies.mean()), "cycles", "in_a_row (cp.async)", float(copies.std())),
        "lsu.bandwidth": Measured(rate, "B/cycle", "ldg (L2, one SM)"),
        "l2.far_latency": Measured(far - chase, "cycles", "latency (chase through 40 MiB against 4 MiB)"),
        "lsu.ldg_l1_latency": Measured(near, "cycles", "latency (chase through 16 KiB)"),
        "lsu.ldg_l2_latency": Measured(chase, "cycles", "latency (chase through 4 MiB)"),
        "lsu.cp_async_l2_latency": Measured(group_wait, "cycles", "cpasync (one group, commit to wait)"),
        "sm.port_bandwidth": Measured(max(rate, found["tma.bandwidth"].value), "B/cycle", "ldg (L2, one SM)"),
    }


def stream_bandwidth(b: Benches, reads: int, writes: int) -> float:
    """Bytes/s of HBM with ``reads`` streams read and ``writes`` written, all equal and none waiting for another."""
    return max(row["bytes_per_s"] for row in b.rows("hbm", kind="ldg_stg", reads=reads, writes=writes, copy=False))


def _memory(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """HBM and L2 bandwidth with all SMs; latency under a load of reads."""
    ring = [row for row in b.rows("tma", kind="ring", source="dram") if row["ctas"] % b.sms("tma") == 0]
    clock = found["sm.clock"].value * 1e6
    share = float(np.median(sorted(row["bytes_per_cycle_per_sm"] for row in ring)[-20:]))
    bulk = max(row["bytes_per_s"] for row in b.rows("hbm", kind="tma"))
    loads, write = stream_bandwidth(b, 1, 0), stream_bandwidth(b, 0, 1)
    read = (loads + bulk) / 2.0
    l2 = max(row["bytes_per_s"] for row in b.rows("l2", kind="read") if row["footprint_bytes"] <= 32 << 20)
    contention, burst, queue, off = _loaded_latency(b, share)
    loaded = "tma ring and burst (latency beyond that of one SM)"
    return {
        "hbm.read_bandwidth": Measured(
            read / 1e12,
            "TB/s",
            "hbm (reads only, ld.global and bulk copies)",
            abs(loads - bulk) / 1e12,
        ),
        "hbm.write_bandwidth": Measured(write / 1e12, "TB/s", "hbm (writes only)"),
        "hbm.burst_contention": Measured(contention, "", loaded),
        "hbm.burst_time": Measured(burst / clock * 1e9, "ns", loaded),
        "hbm.queue_time": Measured(queue / clock * 1e9, "ns", loaded, off / clock * 1e9),
        "l2.read_bandwidth": Measured(l2 / 1e12, "TB/s", "l2 (footprints up to 32 MiB)"),
    }


def _tma_store(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """Bulk stores on one SM: rate, what issuing one costs if earlier ones need not be waited for, and the rest."""
    ring = b.rows("tma_store", kind="ring", ctas=1)
    rate = max(row["bytes_per_cycle_per_sm"] for row in ring)
    smallest = min(row["bytes"] for row in ring)
    issue = min(row["bytes"] / row["bytes_per_cycle_per_sm"] for row in ring if row["bytes"] == smallest)
    latencies = [row["read_cycles"] - row["bytes"] / rate for row in b.rows("tma_store", kind="latency")]
    return {
        "tma.store_bandwidth": Measured(rate, "B/cycle", "tma_store (one SM)"),
        "tma.store_issue": Measured(issue, "cycles", f"tma_store ({smallest} bytes, up to four under way)"),
        "tma.store_latency": Measured(
            float(np.mean(latencies)) - found["tma.submit"].value, "cycles",
            "tma_store (source read, beyond the bytes)", float(np.std(latencies)),
        ),
    }  # fmt: skip


def _loaded_latency(b: Benches, share: float) -> tuple[float, float, float, float]:
    """``contention``, ``burst`` and ``queue`` of `among_loads` in cycles, and how far latencies are off with them.

    Least squares of latency with all SMs less latency with one, each relative to the former. After a load `burst`
    spins; what the spinning takes beyond what it was asked for is a further unknown.
    """
    single = {(row["bytes"], row["outstanding"]): row["outstanding"] * row["bytes"] / row["bytes_per_cycle_per_sm"]
              for row in b.rows("tma", kind="ring", source="dram", ctas=1)}  # fmt: skip
    one = {row["bytes"]: row["cycles_mean"] for row in b.rows("tma", kind="latency", source="dram")}
    # A turn of a ring of one copy takes a little longer; of larger copies than any ring has, so it would, too.
    turn = float(np.mean([single[size, 1] - one[size] for size in one if (size, 1) in single]))
    loads, extra, weights = [], [], []

    def add(size: float, load: float, latency: float, alone: float, spins: bool) -> None:
        if load < BELOW_SATURATION:
            loads.append((load, size / share, float(spins)))
            extra.append(latency - alone)
            weights.append(1.0 / latency)

    for row in b.rows("tma", kind="ring", source="dram"):
        case, rate = (row["bytes"], row["outstanding"]), row["bytes_per_cycle_per_sm"]
        if row["ctas"] > 1 and case in single and row["outstanding"] <= 4:
            latency = row["outstanding"] * row["bytes"] * row["ctas_per_sm"] / rate
            add(row["bytes"], rate / share, latency, single[case], False)
    for row in b.rows("burst"):
        if row["delay"]:
            size, period = row["bytes"], row["period_cycles"]
            load = size * row["ctas_per_sm"] / period / share
            add(size, load, period - row["delay"], single.get((size, 1), one[size] + turn), True)
    weight = np.array(weights)[:, None]

    def fit(burst: float) -> tuple[float, np.ndarray, np.ndarray]:
        causes = np.array([
            (among_loads(load, transfer, 1.0, burst, 0.0), among_loads(load, transfer, 0.0, burst, 1.0), spins)
            for load, transfer, spins in loads
        ])  # fmt: skip
        solution, *_ = np.linalg.lstsq(weight * causes, weight[:, 0] * extra, rcond=None)
        off = causes @ solution - extra
        return float(np.square(weight[:, 0] * off).sum()), solution, off

    burst = _best(lambda cycles: fit(cycles)[0], np.geomspace(200, 20000, 60))
    _, (contention, queue, _), off = fit(burst)
    return float(contention), float(burst), float(queue), float(np.std(off))


def _best(error: Callable[[float], float], candidates: Iterable[float]) -> float:
    return min(candidates, key=error)


MEMORY_STEPS = (_bulk_latency, _bulk_issue, _tma_store, _overtaking, _lsu, _memory)
