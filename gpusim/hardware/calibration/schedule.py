"""From microbenchmarks to who gets the issue slots of a scheduler, and what a warp loses whose lanes part ways.

Each function isolates one mechanism; its docstring says which benches and how.
"""

from __future__ import annotations

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.program import WARP_SIZE

__all__ = ["SCHEDULE_STEPS"]

_MANY_WARPS = 8
"""More on one scheduler than are served at a time."""
_MANY_LINES = 64
"""Of an SM, from which on it is L2 that they all wait for."""
_CHAIN, _CHAIN_STEPS = "a chain of shuffles", 16
_LOOPS = {"four chains of FFMAs": 64, "a shared load and 64 FFMAs": 69}
"""Kinds of code of the bench `mixed`, and the instructions of a turn."""


def _served(b: Benches, _: dict) -> dict[str, Measured]:
    """Warps of a scheduler that end together with the first of eight: so many are served at a time.

    The mean over the two loops without a stopwatch in them, of which two warps fill the slots: one goes on while the
    other is stopped, and nobody else gets anything. Loops that read the clock half way stop three times in a turn, once
    behind an instruction which the compiler has marked to yield, and four of them are served. "Together" is within 1.3
    times the first one's end; up to 1.5 the counts are the same.
    """
    counts = [
        sum(end <= 1.3 * min(row["slots"]) for end in row["slots"])
        for row in b.rows("fairness", chains=4, halfway=False, integer=0)
        if len(row["slots"]) == _MANY_WARPS
    ]
    source = "fairness (eight warps on a scheduler)"
    return {"sm.warps_served": Measured(float(np.mean(counts)), "", source, float(np.std(counts)))}


def _slot_wait(b: Benches, _: dict) -> dict[str, Measured]:
    """What each step of a chain of shuffles loses beside loops that take the part u of the slots, times (1 - u) / u."""
    lost = []
    for loop, instructions in _LOOPS.items():
        rows = [row for row in b.rows("mixed") if set(row["kinds"]) == {_CHAIN, loop}]
        chain = rows[0]["kinds"].index(_CHAIN)
        alone = next(row["cycles_per_turn"][chain] for row in rows if not row["warps"][1 - chain])
        for row in rows:
            if all(row["warps"]):
                used = row["warps"][1 - chain] * instructions / row["cycles_per_turn"][1 - chain]
                lost.append((row["cycles_per_turn"][chain] - alone) / _CHAIN_STEPS * (1.0 - used) / used)
    source = "mixed (a chain of shuffles beside loops)"
    return {"sm.slot_wait": Measured(float(np.median(lost)), "cycles", source, float(np.std(lost)))}


def _spread(b: Benches, _: dict) -> dict[str, Measured]:
    """How far SMs are apart when equal CTAs end, in parts of their time; the median over what CTAs wait for."""
    found = [row["sm_spread"] for row in b.rows("last_wave")]
    return {"sm.spread": Measured(float(np.median(found)), "", "last_wave (first wave)", float(np.std(found)))}


def _rewritten(b: Benches, _: dict) -> dict[str, Measured]:
    """How much later than the mean SM the slowest has stored, where all write the same lines again and again."""
    found = [
        (row["cycles_slowest"] / row["cycles_mean"] - 1.0) * (row["warps"] * row["values"]) ** 0.5
        for row in b.rows("local", op="store", pause=0, sms=b.sms("local"))
        if row["warps"] * row["values"] >= _MANY_LINES
    ]
    source = "local (stores by all SMs, the slowest against the mean)"
    return {"l2.rewritten_spread": Measured(float(np.median(found)), "", source, float(np.std(found)))}


def _time_stamp(b: Benches, _: dict) -> dict[str, Measured]:
    """A time stamp in a tile pipeline: how much later a lone warp goes on, and how much later for each that shares."""

    def longer(warps: int) -> np.ndarray:
        without = {(r["fma"], r["vectors"]): r["cycles_median"] for r in b.rows("time_stamps", stamps=0, warps=warps)}
        stamped = [row for row in b.rows("time_stamps", warps=warps) if row["stamps"]]
        cycles = [(r["cycles_median"] - without[r["fma"], r["vectors"]]) / r["stamps"] for r in stamped]
        return np.array(cycles)

    alone = longer(1)
    slots = (longer(4 * _MANY_WARPS) - longer(4)) / (_MANY_WARPS - 1)
    slots_off, alone_off = float(slots.std()), float(alone.std())
    return {
        "probe.stamp": Measured(float(slots.mean()), "", "time_stamps (32 warps, and 4; H200)", slots_off),
        "probe.stamp_alone": Measured(float(alone.mean()), "cycles", "time_stamps (one warp; H200)", alone_off),
    }


def _divergence(b: Benches, _: dict) -> dict[str, Measured]:
    """What a warp that is alone loses if its lanes part ways at the last turn of a loop, by where they meet again."""

    def parted(join: str) -> Measured:
        rows = b.rows("parting", join=join, warps=1)
        whole = {(r["fmas"], r["vectors"]): r["cycles_per_turn"] for r in rows if r["lanes"] == WARP_SIZE}
        more = [r["cycles_per_turn"] - whole[r["fmas"], r["vectors"]] for r in rows if 0 < r["lanes"] < WARP_SIZE]
        return Measured(float(np.mean(more)), "cycles", f"parting ({join}, one warp)", float(np.ptp(more)))

    return {"sm.divergent_branch": parted("bsync"), "sm.divergent_syncwarp": parted("warpsync")}


SCHEDULE_STEPS = (_served, _slot_wait, _spread, _rewritten, _time_stamp, _divergence)
