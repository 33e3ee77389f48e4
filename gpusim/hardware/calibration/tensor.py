"""Tensor cores: products that a warp waits for, those it does not, and the clock.

Benches `mma`, `wgmma`, `waiting_products` and `power`.
"""

from __future__ import annotations

import numpy as np

from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.program.tensor_ops import BYTES_DEEP

__all__ = ["TENSOR_STEPS"]

_SHORT_PAUSE = 1000
"""Cycles; with longer ones, of all SMs at the same time, the clock falls further than under load."""
_FULL = 8
"""Warps of a scheduler, or chains of one, that keep its tensor core busy."""
_LONG = 16
"""Products of a long group."""
_NARROW, _EASY, _WIDE = 32, 64, 128
"""Columns up to which operands count, up to which issuing is no slower, and from which on nothing but the tensor cores
counts."""
_FENCE = 10
"""Cycles from the fence of a group to its first product: the stall count of WARPGROUP.ARRIVE in the machine code of
`wgmma`. It is code, which programs count."""
_BANKS = 32 * 4
"""Bytes that shared memory gives in a cycle."""


def _mma(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """Rate and latency of mma.sync alone; its issue slots from FFMAs beside it, which it keeps from their operands."""
    full = [row["cycles_per_mma"] for row in b.rows("mma", ffmas=0, warps_per_scheduler=_FULL)]
    latency = b.one("mma", "cycles_per_mma", chains=1, ffmas=0, warps_per_scheduler=1)
    per_ffma = 1.0 / found["sm.ffma_issue_rate"].value
    beside = [
        row["cycles_per_mma"] - row["ffmas"] * per_ffma
        for row in b.rows("mma", chains=8)
        if row["ffmas"] and row["warps_per_scheduler"] > 1
    ]
    return {
        "tensor.mma_interval": Measured(float(np.median(full)), "cycles", "mma (m16n8k16)", float(np.ptp(full))),
        "tensor.mma_latency": Measured(latency, "cycles", "mma (one warp, one chain)"),
        "tensor.mma_slots": Measured(
            float(np.mean(beside)), "cycles", "mma (4 and 16 FFMAs behind each)", float(np.ptp(beside))
        ),
    }


def _wgmma(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """Rate and latency of wgmma by columns, groups and where the first operand is; warpgroups share what there is."""

    def rate(**where: object) -> list[dict]:
        return b.rows("wgmma", kind="rate", type="f16", **where)

    # Two warpgroups fill the tensor cores: what a group takes is a line in its columns.
    wide = [row for row in rate(warpgroups=2, per_group=_LONG, pending=0) if row["n"] >= _WIDE]
    taken = [row["cycles_per_wgmma"] / 2.0 for row in wide]
    slope, _ = np.polyfit([row["n"] for row in wide], taken, 1)
    pairs = [row for row in rate(warpgroups=2, pending=0) if row["n"] >= _WIDE and row["per_group"] > 1]
    group = [row["per_group"] * (row["cycles_per_wgmma"] / 2.0 - slope * row["n"]) for row in pairs]
    three = {
        row["n"]: row["cycles_per_wgmma"] / 3.0 for row in rate(warpgroups=3, per_group=_LONG, pending=0, a="shared")
    }
    operand = [three[n] - n * BYTES_DEEP / _BANKS for n in three if n <= _NARROW]
    least = min(row["cycles_per_wgmma"] / 3.0 for row in rate(warpgroups=3, per_group=_LONG, pending=0, a="registers"))
    told = {(row["n"], row["per_group"]): row["issued_cycles"] for row in b.rows("wgmma", kind="issue", a="shared")}
    narrow = sorted({n for n, _ in told if n <= _EASY})
    issue = [(told[n, _LONG] - told[n, 1]) / (_LONG - 1) for n in narrow]
    first = _FENCE + float(np.mean(issue))
    # A group of one alone: it is issued, worked off, and the warp goes on.
    alone = [row for row in rate(warpgroups=1, per_group=1, pending=0, a="shared") if row["n"] >= _EASY]
    rest = [row["cycles_per_wgmma"] - first - slope * row["n"] - float(np.mean(group)) for row in alone]
    return {
        "tensor.wgmma_columns": Measured(1.0 / float(slope), "/cycle", "wgmma (two warpgroups, 128 to 256 columns)"),
        "tensor.wgmma_group": Measured(
            float(np.mean(group)), "cycles", "wgmma (two warpgroups, groups of 4 and 16)", float(np.ptp(group))
        ),
        "tensor.wgmma_first_operand": Measured(
            float(np.mean(operand)),
            "cycles",
            "wgmma (8 to 32 columns, first operand in shared memory)",
            float(np.ptp(operand)),
        ),
        "tensor.wgmma_least": Measured(float(least), "cycles", "wgmma (8 columns, first operand in registers)"),
        "tensor.wgmma_issue": Measured(
            float(np.mean(issue)), "cycles", "wgmma (up to 64 columns)", float(np.ptp(issue))
        ),
        "tensor.wgmma_latency": Measured(float(np.mean(rest)), "cycles", "wgmma (groups of one)", float(np.ptp(rest))),
    }


def _ahead(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """How many wgmma the tensor core of a scheduler takes in: so many are left when a warp has issued its last one."""
    rows = [row for row in b.rows("waiting_products", per_group=_LONG, pending=0) if row["n"] >= _EASY]
    each = [row["n"] / found["tensor.wgmma_columns"].value for row in rows]
    left = [row["returned_cycles"][1] - row["issued_cycles"][1] for row in rows]
    slope, base = np.polyfit(each, left, 1)
    off = float(np.abs(base + slope * np.array(each) - left).max() / min(each))
    source = "waiting_products (groups of 16, cycles left behind the last issue, 64 to 256 columns)"
    return {"tensor.wgmma_ahead": Measured(float(slope), "", source, off)}


def _others(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """How fast a warp gets on that executes one instruction after the other (it issues bulk copies) beside wgmma."""

    def issued(row: dict) -> float:
        alone = {"kind": "beside", "beside": "issue", "n": row["n"], "a": row["a"], "warpgroups": 0}
        return row["beside_per_cycle"] / b.one("wgmma", "beside_per_cycle", **alone)

    rates = [issued(row) for row in b.rows("wgmma", kind="beside", beside="issue") if row["warpgroups"]]
    return {
        "tensor.others_rate": Measured(
            float(np.median(rates)), "", "wgmma (a thread that issues bulk copies beside it)", float(np.ptp(rates))
        )
    }


def _clocks(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """SM clock while all SMs multiply random numbers, without a pause or with short ones, as kernels have."""
    rows = [
        row for row in b.rows("power", sms=b.sms("power")) if row["data"] != "zeros" and row["pause"] <= _SHORT_PAUSE
    ]

    def clock(instruction: str, rows: list[dict]) -> Measured:
        clocks = [row["mean_clock_hz"] / 1e6 for row in rows]
        source = f"power ({instruction}, random operands, all SMs, pauses up to 1000 cycles)"
        return Measured(float(np.median(clocks)), "MHz", source, float(np.ptp(clocks)))

    return {
        "tensor.mma_clock": clock("mma.sync", [row for row in rows if not row["n"]]),
        "tensor.wgmma_clock": clock("wgmma", [row for row in rows if row["n"]]),
    }


TENSOR_STEPS = (_mma, _wgmma, _ahead, _others, _clocks)
