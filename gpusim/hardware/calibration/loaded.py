"""From microbenchmarks to how much longer loads wait beside stores.

Each function isolates one mechanism; its docstring says which benches and how.
"""

from __future__ import annotations

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.hardware.memory.access import LINE_BYTES
from gpusim.hardware.memory.loaded_latency import among_loads, among_writes, slowest
from gpusim.hardware.memory.read_write_turnaround import MIX_LOSSES, left_when_mixed
from gpusim.program import WARP_SIZE

__all__ = ["LOADED_STEPS"]

MANY_BYTES = 32 << 10
"""Of an SM, from which on copies of all SMs wait for HBM."""
FULL = 0.97
"""Of the bandwidth that a mix of reads and writes has at most: HBM is full."""
UNSATURATED = 0.85
"""Utilisation of HBM up to which the latency of a load is taken: beyond it stores pile up."""


def _loads_beside_stores(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """What a load waits longer beside stores than beside as many loads.

    It grows with the root of (writes / what is left of HBM), and with the lines of which the slowest is waited for.
    """
    read, write = (found[f"hbm.{kind}_bandwidth"].value * 1e12 for kind in ("read", "write"))
    clock = found["sm.clock"].value * 1e6
    share = read / b.sms("loaded") / clock
    burst, queue = (found[f"hbm.{name}_time"].value * 1e-9 * clock for name in ("burst", "queue"))
    crowd = found["hbm.burst_contention"].value, burst, queue

    idle, factors = {}, {}
    rows = [row for row in b.rows("loaded", target="dram") if row["load_bytes"]]
    for row in rows:
        if not row["store_bytes"]:
            # The longest delay comes last: the least loaded.
            size = row["load_bytes"]
            busy = among_loads(row["read_bytes_per_s"] / read, size / share, *crowd)
            idle[size, row["ctas_per_sm"]] = row["load_cycles"] - busy
    for row in rows:
        load, writes = _busy(row["read_bytes_per_s"] / read, row["written_bytes_per_s"] / write, found)
        if writes and load < UNSATURATED:
            size = row["load_bytes"]
            more = row["load_cycles"] - idle[size, row["ctas_per_sm"]] - among_loads(load, size / share, *crowd)
            factors.setdefault(size, []).append(more / among_writes(writes, load))
    lines = np.array(sorted(factors)) / LINE_BYTES
    cycles = np.array([np.median(factors[size]) for size in sorted(factors)])
    one = cycles[0]
    scales = np.geomspace(2, 60, 60)
    rises = 1.0 - np.exp(-(lines[:, None] - 1.0) / scales)
    many = one + ((cycles - one) @ rises) / (rises**2).sum(axis=0)
    off = np.abs(one + (many - one) * rises - cycles[:, None]).sum(axis=0)
    best = int(np.argmin(off))
    spread = float(np.median([np.std(values) for values in factors.values()]))
    source = "loaded (latency of loads beside stores)"
    return {
        "hbm.write_queue_one_line": Measured(one / clock * 1e9, "ns", source, spread / clock * 1e9),
        "hbm.write_queue_many_lines": Measured(float(many[best]) / clock * 1e9, "ns", source, spread / clock * 1e9),
        "hbm.write_queue_lines": Measured(float(scales[best]), "", source),
    }


def _between_warps(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """How much of that spread there is among loads of several warps of a CTA, which are not issued at once.

    Of the slowest warp less the mean of all, what stores add to it against the slowest of as many lines of one copy.
    """
    read, write = (found[f"hbm.{kind}_bandwidth"].value * 1e12 for kind in ("read", "write"))
    clock, sms = found["sm.clock"].value * 1e6, b.sms("meeting")
    queue = tuple(found[f"hbm.write_queue_{kind}"].value * 1e-9 * clock for kind in ("one_line", "many_lines"))
    scale = found["hbm.write_queue_lines"].value
    case = ("lane_bytes", "ctas_per_sm", "warps", "pause")
    apart = {
        tuple(row[name] for name in case): row["met_cycles"] - row["own_cycles"]
        for row in b.rows("meeting", source="dram", storing=False)
    }
    stated, measured = [], []
    for row in b.rows("meeting", source="dram", storing=True):
        own = WARP_SIZE * row["lane_bytes"]
        each_way = sms * row["ctas_per_sm"] * row["warps"] * own * clock / row["turn_cycles"]
        load, writes = _busy(each_way / read, each_way / write, found)
        if load < UNSATURATED:
            lines = own / LINE_BYTES
            spread = slowest(queue, row["warps"] * lines, scale) - slowest(queue, lines, scale)
            stated.append(spread * among_writes(writes, load))
            measured.append(row["met_cycles"] - row["own_cycles"] - apart[tuple(row[name] for name in case)])
    part = float(np.dot(stated, measured) / np.dot(stated, stated))
    off = float(np.std(part * np.array(stated) - measured) / np.mean(stated))
    return {"hbm.write_queue_between_warps": Measured(part, "", "meeting (beside as many stores as loads)", off)}


def _busy(reads: float, writes: float, found: dict[str, Measured]) -> tuple[float, float]:
    """Utilisation by both and by ``writes`` alone of what HBM can do at this mix; given those of all of its time."""
    left = left_when_mixed(writes / (reads + writes), [found[name].value for name in MIX_LOSSES])
    return (reads + writes) / left, writes / left


def _copies_beside(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """How often a copy from or to the host waits for what kernels have asked of a full HBM, whatever its bytes.

    What a small copy takes longer, against the bytes that threads which mostly read have under way.
    """
    rows = b.rows("copies_beside")
    alone = next(row for row in rows if not row["ctas"])
    reading = [row for row in rows if row["reads"] > 1 or (row["reads"] and not row["writes"])]
    most: dict[tuple[int, int], float] = {}
    for row in reading:
        mix = row["reads"], row["writes"]
        most[mix] = max(most.get(mix, 0.0), row["bytes_per_s"])
    full = [row for row in reading if row["bytes_per_s"] > FULL * most[row["reads"], row["writes"]]]
    waits = [
        (row[way] - alone[way]) * row["bytes_per_s"] / row["bytes_under_way"]
        for row in full
        for way in ("h2d_s", "d2h_s")
    ]
    mean, off = float(np.mean(waits)), float(np.std(waits))
    return {"hbm.copy_waits": Measured(mean, "", "copies_beside (full HBM; H200)", off)}


def _behind_misses(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """Bytes that all SMs wait for from DRAM before hits wait behind them.

    A hit that waits comes at the same time whenever it was asked for: when all but so many of them have come, by how
    much longer more of them take. Only hits that were asked for when all copies had been issued.
    """
    sms = b.sms("behind_misses")
    rows = b.rows("behind_misses", sms=sms)
    idle = next(row["hit_cycles"] for row in rows if not row["bytes"])
    landed = [(row["bytes"], row["landed_cycles"]) for row in rows if row["bytes"] >= MANY_BYTES and not row["delay"]]
    cycles_per_byte, _ = np.polyfit(*zip(*landed, strict=True), 1)
    ahead = [
        row["bytes"] - (row["asked_cycles"] + row["hit_cycles"] - idle) / cycles_per_byte
        for row in rows
        if row["hit_cycles"] > 2.0 * idle and row["asked_cycles"] * LINE_BYTES > 1.25 * row["bytes"]
    ]
    scale = sms / 1e6
    return {"l2.hits_ahead": Measured(scale * float(np.median(ahead)), "MB", "behind_misses (H200)",
                                      scale * float(np.std(ahead)))}  # fmt: skip


LOADED_STEPS = (_loads_beside_stores, _between_warps, _copies_beside, _behind_misses)
