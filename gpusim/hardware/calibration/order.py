"""What order of address gives, and what mixing reads and writes costs: benches `in_order` and `few_writes`."""

from __future__ import annotations

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.hardware.calibration.memory import BELOW_SATURATION
from gpusim.hardware.memory.address_order import IN_ORDER_BYTES
from gpusim.hardware.memory.loaded_latency import among_loads

__all__ = ["MIXES", "ORDER_STEPS", "few_of_one"]

MIXES = (
    ("_mostly_reads", (3, 1), "three reads to one write"),
    ("", (1, 1), "half reads, half writes"),
    ("_mostly_writes", (1, 3), "one read to three writes"),
)
"""Ends of names, streams read and written, and their words."""
FEW = {"few_writes": ((16, 1), (32, 1), (64, 1)), "few_reads": ((1, 8), (1, 16), (1, 32))}
"""Vectors read and written where one kind is rare; with fewer writes than these L2 keeps them."""


def few_of_one(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """What a few writes among reads cost, and a few reads among writes; CTAs that stay, and those that come and go."""
    found = {}
    for ctas, end in (("staying", ""), ("passing", "_in_order")):
        rates = {(row["reads"], row["writes"]): row["bytes_per_s"] for row in b.rows("few_writes", ctas=ctas)}
        read, write = rates[1, 0], rates[0, 1]
        for name, mixes in FEW.items():
            losses = [1.0 - rates[r, w] * (r / read + w / write) / (r + w) for r, w in mixes]
            what = f"few_writes ({ctas} CTAs, against each alone)"
            found[f"hbm.mix_loss_{name}{end}"] = Measured(float(np.mean(losses)), "", what, float(np.ptp(losses)))
    return found


def _write_gain(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """What order gives to writes of CTAs that come and go: piece after piece against pieces anywhere."""
    write = found["hbm.write_bandwidth"].value * 1e12
    gains = [
        row["bytes_per_s"] / write - 1.0
        for row in b.rows("in_order", kind="pieces", op="write", in_order=True)
        if row["cta_bytes"] <= IN_ORDER_BYTES
    ]
    return {
        "hbm.write_in_order_gain": Measured(
            float(np.median(gains)), "", "in_order (writes, up to 16 KiB a CTA)", float(np.ptp(gains))
        )
    }


def _mix_losses(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """What mixing reads with writes costs where the latter are in order, against each alone."""
    read, write = (found[f"hbm.{way}_bandwidth"].value * 1e12 for way in ("read", "write"))
    gain = found["hbm.write_in_order_gain"].value
    mixed: dict[tuple[int, int], list[float]] = {}
    for row in b.rows("in_order", kind="mixed"):
        reads, writes = row["reads"], row["writes"]
        apart = (reads / read + writes / (write * (1.0 + gain))) / (reads + writes)
        mixed.setdefault((reads, writes), []).append(1.0 - apart * row["bytes_per_s"])
    return {
        f"hbm.mix_loss{name}_in_order": Measured(
            float(np.mean(mixed[mix])), "", f"in_order ({words}, against each alone)", float(np.ptp(mixed[mix]))
        )
        for name, mix, words in MIXES
    }


def _read_queue(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """How much of `hbm.queue_time` order leaves to reads of CTAs that come and go, each with all its reads at once.

    Least squares through the origin: what is left of the wait against all of it, where HBM is not saturated.
    """
    pairs: dict[tuple, dict[bool, dict]] = {}
    for row in b.rows("in_order", kind="pieces", op="read", turns=1):
        case = tuple(row[name] for name in ("threads", "ctas_per_sm", "unroll"))
        pairs.setdefault(case, {})[row["in_order"]] = row
    read, queue = found["hbm.read_bandwidth"].value * 1e12, found["hbm.queue_time"].value * 1e-9
    stated, measured = [], []
    for pair in pairs.values():
        loads, took = {}, {}
        for in_order, row in pair.items():
            loads[in_order] = row["bytes_per_s"] / read
            took[in_order] = b.sms("in_order") * row["ctas_per_sm"] * row["cta_bytes"] / row["bytes_per_s"]
        if max(loads.values()) < BELOW_SATURATION:
            waits = {in_order: among_loads(load, 0.0, 0.0, 0.0, queue) for in_order, load in loads.items()}
            stated.append(waits[True])
            measured.append(waits[False] - (took[False] - took[True]))
    part = float(np.dot(stated, measured) / np.dot(stated, stated))
    off = float(np.std(part * np.array(stated) - measured) / np.mean(stated))
    return {"hbm.queue_in_order": Measured(part, "", "in_order (reads, one turn a CTA)", off)}


ORDER_STEPS = (_write_gain, _mix_losses, _read_queue)
