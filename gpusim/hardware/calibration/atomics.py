"""What atomic updates cost of global memory (bench `atomics`) and of shared memory (`shared_atomics`)."""

from __future__ import annotations

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured, Rows
from gpusim.hardware.memory.access import LINE_BYTES, SECTOR_BYTES
from gpusim.program import WARP_SIZE

__all__ = ["ATOMIC_STEPS"]

_RANGE = 16 << 20
"""Bytes so many that hardly two updates meet."""
_SPREAD = 1 << 10, 64 << 10
"""Ranges that lie in several slices of L2, and not in all."""
_TOUCHED = {
    ("u32", "side_by_side"): (1, LINE_BYTES), ("f32", "side_by_side"): (1, LINE_BYTES),
    ("v4.f32", "side_by_side"): (4, 4 * LINE_BYTES), ("u32", "sectors"): (4, LINE_BYTES),
    ("u32", "lanes"): (WARP_SIZE, LINE_BYTES),
}  # fmt: skip
"""Requests and bytes of an instruction."""


def _per_s(row: dict) -> float:
    return row["instructions_per_us"] * 1e6


def _flood(b: Benches, sms: int, returns: bool) -> Rows:
    """Rows of 32 warps on each of so many SMs."""
    rows = b.rows("atomics", kind="flood", sms=sms, returns=returns, range=_RANGE)
    return [row for row in rows if row["warps"] * row["ctas"] == WARP_SIZE * sms]


def _requests(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """What a request takes of one SM beside its bytes; what all SMs do; who waits."""
    sends, everywhere = found["lsu.store_bandwidth"].value, b.sms("atomics")
    own = []
    for row in _flood(b, 1, False):
        requests, updated = _TOUCHED[row["type"], row["pattern"]]
        own.append((row["cycles"] * sends - updated) / requests)
    request = float(np.mean(own))
    (lanes,) = (row for row in _flood(b, everywhere, False) if row["pattern"] == "lanes")
    back = []
    for row in _flood(b, everywhere, True):
        requests, updated = _TOUCHED[row["type"], row["pattern"]]
        back.append((updated + requests * request) * _per_s(row) / 1e12)
    alone = b.one("atomics", "cycles", kind="flood", sms=1, warps=1, returns=False, pattern="side_by_side")
    chains = {row["range"]: row["cycles_mean"] for row in b.rows("atomics", kind="chain")}
    latency = float(np.mean([cycles for size, cycles in chains.items() if size > LINE_BYTES]))
    off = max(abs(cycles - latency) for cycles in chains.values())
    return {
        "lsu.atomic_request_bytes": Measured(
            request, "B", "atomics (one SM: as many bytes could have been stored)", float(np.ptp(own))
        ),
        "lsu.atomic_interval": Measured(alone, "cycles", "atomics (one warp, lanes side by side)"),
        "lsu.atomic_latency": Measured(latency, "cycles", "atomics (chains through 4 and 32 MiB; one value)", off),
        "l2.atomic_bandwidth": Measured(
            WARP_SIZE * SECTOR_BYTES * _per_s(lanes) / 1e12, "TB/s", "atomics (sectors of single lanes, all SMs; H200)"
        ),
        "l2.atomic_return_bandwidth": Measured(
            float(np.mean(back)),
            "TB/s",
            "atomics (with requests, old values wanted, all SMs; H200)",
            float(np.ptp(back)),
        ),
    }


def _shared(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """Updates that all SMs make of few values: of one, and over how many bytes further slices of L2 take part.

    Less what a sector takes where nobody meets.
    """
    sector_s = SECTOR_BYTES / (found["l2.atomic_bandwidth"].value * 1e12)

    def intervals(kind: str, least: int, most: int) -> np.ndarray:
        """Ranges and seconds of an update of one value, by all lanes of a warp."""
        return np.array([
            (row["range"], 1.0 / (WARP_SIZE * _per_s(row)) - sector_s)
            for row in b.rows("atomics", kind="flood", type=kind, pattern="warps", returns=False)
            if least <= row["range"] <= most
        ])  # fmt: skip

    one, sums = intervals("u32", 0, LINE_BYTES)[:, 1], intervals("f32", 0, SECTOR_BYTES)[:, 1]
    interval = float(one.mean())
    ranges, each = intervals("u32", *_SPREAD).T
    spread = ranges * each / interval
    return {
        "l2.atomic_interval": Measured(
            interval * 1e9, "ns", "atomics (4 to 128 B, all SMs; H200)", float(np.ptp(one)) * 1e9
        ),
        "l2.atomic_float_interval": Measured(
            float(sums.mean()) * 1e9,
            "ns",
            "atomics (f32 in one sector, all SMs; H200)",
            float(np.ptp(sums)) * 1e9,
        ),
        "l2.atomic_spread": Measured(
            float(np.median(spread)), "B", "atomics (1 to 64 KiB, all SMs; H200)", float(np.std(spread))
        ),
    }


def _of_shared_memory(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """How fast one warp can ask for updates of shared memory, and when old values are back."""
    alone = [
        row["cycles"]
        for op in ("inc", "add", "max")
        for row in b.rows("shared_atomics", kind="rate", op=op, pattern="own", warps=1, loads=0)
    ]
    turns = [2 << order for order in range(5)]
    slowest, wide = f"alike {turns[-1]}", float(turns[-1])
    alike = b.one("shared_atomics", "cycles", kind="rate", op="add", pattern=slowest, warps=1) / wide
    back = [b.one("shared_atomics", "cycles", kind="chain", op="returns", pattern=f"alike {n}") for n in turns]
    more, first = np.polyfit(np.array(turns) - 1.0, back, 1)
    return {
        "sm.atoms_interval": Measured(
            float(np.mean(alone)), "cycles", "shared_atomics (one warp, a word for each lane)", float(np.ptp(alone))
        ),
        "sm.atoms_interval_per_wavefront": Measured(alike, "cycles", "shared_atomics (one warp, one word)"),
        "sm.atoms_latency": Measured(float(first), "cycles", "shared_atomics (chains)"),
        "sm.atoms_latency_per_extra_wavefront": Measured(float(more), "cycles", "shared_atomics (chains)"),
    }


ATOMIC_STEPS = (_requests, _shared, _of_shared_memory)
