"""From raw microbenchmark results to the measured quantities of a device profile.

Each function isolates one mechanism; its docstring says which benches and how. Nothing here sees
the recording of a technique: calibration and validation never mix. The raw results are the
JSON files of ``realkernels.microbench`` (one per bench, rows of parameters and cycles).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpusim.errors import RecordingError
from gpusim.hardware.imbalance import expected_maximum

__all__ = ["Measured", "measure_quantities"]

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured quantity: value and spread as numbers in ``unit``, and the bench it is from."""

    value: float
    unit: str
    source: str
    spread: float = 0.0

    @property
    def text(self) -> str:
        """The value with its unit, four significant digits."""
        return f"{self.value:.4g} {self.unit}".strip()


def measure_quantities(folder: Path) -> dict[str, Measured]:
    """All measured quantities from the bench results in ``folder``, by name.

    Raises RecordingError if a bench is missing or unreadable.
    """
    benches = _Benches(folder)
    found: dict[str, Measured] = {}
    for step in _STEPS:
        found.update(step(benches, found))
    return found


class _Benches:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, dict[str, Any]] = {}

    def file(self, bench: str) -> dict[str, Any]:
        if bench not in self._known:
            path = self._folder / f"{bench}.json"
            try:
                self._known[bench] = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise RecordingError(f"cannot read the microbenchmark result: {error}", path=path) from None
        return self._known[bench]

    def rows(self, bench: str, **where: Any) -> Rows:
        rows = [row for row in self.file(bench)["rows"] if all(row.get(k) == v for k, v in where.items())]
        if not rows:
            raise RecordingError(f"no rows with {where}", path=self._folder / f"{bench}.json")
        return rows

    def one(self, bench: str, field: str, **where: Any) -> float:
        return float(self.rows(bench, **where)[0][field])


def _clock(b: _Benches, _: dict) -> dict[str, Measured]:
    """SM clock: clock64 over globaltimer while FP32 units and memory are loaded."""
    rows = [row for row in b.rows("clock") if row["load"] != "rest"]
    values = [row["clock_hz"] / 1e6 for row in rows]
    return {"sm.clock": Measured(float(np.median(values)), "MHz", "clock", float(np.ptp(values)))}


def _issue(b: _Benches, _: dict) -> dict[str, Measured]:
    """FP32 issue rate and latency, special functions: loops of 1024 FFMAs, 3 loop instructions per turn."""
    body = 1024
    turn = body / (body + 3)
    rate = [r["cycles_per_instruction"] * turn
            for r in b.rows("issue", op="ffma_xab", body=body, ilp=4) if r["warps_per_scheduler"] >= 2]  # fmt: skip
    latency = b.one("issue", "cycles_per_instruction", op="ffma_xab", body=body, ilp=1, warps_per_scheduler=1)
    mufu = b.one("issue", "cycles_per_instruction", op="mufu_ex2", ilp=8, warps_per_scheduler=4)
    integer = b.one("issue", "cycles_per_instruction", op="iadd3", ilp=8, warps_per_scheduler=4)
    return {
        "sm.ffma_issue_rate": Measured(1.0 / float(np.mean(rate)), "/cycle", "issue", float(np.ptp(rate))),
        "sm.ffma_latency": Measured(latency * turn, "cycles", "issue"),
        "sm.mufu_issue_interval": Measured(mufu, "cycles", "issue"),
        "sm.integer_issue_interval": Measured(integer, "cycles", "issue"),
    }


def _shared_memory(b: _Benches, _: dict) -> dict[str, Measured]:
    """Shared-memory latency (pointer chase) and the interval at which one warp alone can issue."""
    found = {}
    for kind, name in (("latency", "lds_latency"), ("load", "lds_interval"), ("store", "sts_interval")):
        wavefronts = np.array([1.0, 2.0, 4.0])
        cycles = [b.one("lds", "cycles", kind=kind, bits=32 * int(w), warps=1) for w in wavefronts]
        slope, start = np.polyfit(wavefronts - 1.0, cycles, 1)
        off = float(np.abs(start + slope * (wavefronts - 1.0) - cycles).max())
        found[f"sm.{name}"] = Measured(float(start), "cycles", "lds", off)
        found[f"sm.{name}_per_extra_wavefront"] = Measured(float(slope), "cycles", "lds", off)
    return found


def _loop(b: _Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """Cycles per control or address instruction of a warp that is alone: inside a loop, and around it.

    Around the loop: the mean of two kinds of code, a tile loop without vectors with and without an
    open mbarrier.
    """
    per_ffma = found["sm.ffma_latency"].value / 4.0
    latency = found["sm.lds_latency"].value + 3.0 * found["sm.lds_latency_per_extra_wavefront"].value
    inside = []
    for row in b.rows("lds_ffma", unroll=1, warps=1):
        count = row["sass_per_vector"]
        ffma = count["ffma"] + count["fadd"]
        inside.append((row["cycles_per_vector"] - latency - ffma * per_ffma) / count["other"])
    turn = b.rows("skeleton", kind="consumer", mode="loop")[0]
    wait = b.one("skeleton", "cycles_per_turn", kind="consumer", mode="wait") - turn["cycles_per_turn"]

    def around(mode: int) -> float:
        rows = b.rows("tile_turn", mode=mode, ctas_per_sm=1, warps=1, vectors=0)
        barrier = wait if mode == 3 else 0.0
        return float(np.mean([
            (row["cycles_per_turn"] - barrier) / (sum(row["sass_turn"].values()) - sum(row["sass_vector"].values()))
            for row in rows
        ]))  # fmt: skip

    kinds = [around(0), around(3)]
    return {
        "sm.control_latency": Measured(
            float(np.median(inside)), "cycles", "lds_ffma (one warp)", float(np.std(inside))
        ),
        "sm.setup_latency": Measured(
            float(np.mean(kinds)), "cycles", "tile_turn (one warp, two kinds of code)", float(np.ptp(kinds))
        ),
    }


def _barriers(b: _Benches, _: dict) -> dict[str, Measured]:
    """bar.sync against the number of warps; mbarrier operations and hand-over round trips."""
    def line(kind: str) -> tuple[float, float, float]:
        rows = b.rows("barrier", kind=kind)
        warps = np.array([row["warps"] for row in rows], dtype=float)
        cycles = np.array([row["cycles"] for row in rows])
        slope, base = np.polyfit(warps, cycles, 1)
        return float(base), float(slope), float(np.abs(base + slope * warps - cycles).max())

    def trip(warps: int, lane: bool) -> float:
        return b.one("barrier", "cycles", kind="ping_pong", consumer_warps=warps, producer_lane=lane,
                     consumer_lane_waits=False, all_arrive=False)  # fmt: skip

    def in_loop(warps: int) -> float:
        """What __syncthreads adds to a turn of a loop with one vector per thread."""
        def turn(mode: int, fmas: int) -> float:
            return b.one("tile_turn", "cycles_per_turn", mode=mode, fmas=fmas, ctas_per_sm=1, warps=warps, vectors=1)

        return float(np.mean([turn(4, fmas) - turn(0, fmas) for fmas in (0, 1, 16, 64)]))

    bare, bare_slope, off = line("cta_sync")
    named, _, _ = line("named_sync")
    # Back to back all warps arrive at once; in a loop the last one comes later, the more there are.
    slope = (in_loop(16) - in_loop(8)) / 8.0
    base = in_loop(16) - 16.0 * slope
    poll = b.one("skeleton", "cycles_per_turn", kind="consumer", mode="wait")
    poll -= b.one("skeleton", "cycles_per_turn", kind="consumer", mode="loop")
    def turn(warps: int) -> float:
        return b.one("skeleton", "cycles_per_turn", kind="hand_over", copy=False, stages=8, consumer_warps=warps)

    per_warp = (turn(16) - turn(1)) / 15.0
    # One way of a hand-over between whole warps: the arrival takes effect, the waiter's next look sees it.
    one_way = (trip(1, False) - per_warp) / 2.0
    return {
        "barrier.base": Measured(bare, "cycles", "barrier (cta_sync)", off),
        "barrier.per_warp": Measured(max(bare_slope, (slope * 16 + base - bare) / 16), "cycles", "tile_turn (with and without __syncthreads, 16 warps)", off),
        "barrier.named_extra": Measured(named - bare, "cycles", "barrier (named_sync)"),
        "mbarrier.poll": Measured(poll, "cycles", "skeleton (loop with and without the wait)"),
        "mbarrier.wake": Measured(poll, "cycles", "skeleton: a woken waiter looks once more"),
        "mbarrier.arrive_latency": Measured(one_way - poll, "cycles", "barrier (ping_pong less wake)"),
        "mbarrier.per_warp": Measured(per_warp, "cycles", "skeleton (hand-over, 1 to 16 consumer warps)"),
        "mbarrier.arrive_issue": Measured(
            b.one("barrier", "cycles", kind="mbarrier", op="arrive"), "cycles", "barrier (arrive)"
        ),
    }


def _tma(b: _Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """Bulk copies on one SM: latency against size in L2 and DRAM, issue cost, rate of the unit."""
    def latency(source: str) -> dict[int, float]:
        return {row["bytes"]: row["cycles_mean"] for row in b.rows("tma", kind="latency", source=source)}

    near, far = latency("l2"), latency("dram")
    sizes = np.array([size for size in sorted(near) if size >= 4096], dtype=float)
    per_byte, _ = np.polyfit(sizes, [near[int(size)] for size in sizes], 1)
    rate = max(row["bytes_per_cycle_per_sm"] for row in b.rows("tma", kind="ring", source="l2", ctas=1))
    turn = b.one("skeleton", "cycles_per_turn", kind="hand_over", copy=True, stages=8, consumer_warps=1)
    issue = turn - found["mbarrier.poll"].value - found["mbarrier.per_warp"].value
    submit = b.one("barrier", "cycles", kind="mbarrier", op="expect_tx")
    lines = np.array([size / 128 for size in sorted(far) if size >= 128])
    extra = np.array([far[int(size * 128)] - near[int(size * 128)] for size in lines])
    many = float(np.mean(extra[lines >= 64]))
    one = float(extra[0])
    scale = _best(lambda s: np.abs(one + (many - one) * (1 - np.exp(-(lines - 1) / s)) - extra).sum(), np.geomspace(4, 200, 60))
    return {
        "tma.submit": Measured(submit, "cycles", "barrier (expect_tx)"),
        "tma.issue": Measured(issue, "cycles", "skeleton (hand-over that never waits, less one poll)"),
        "tma.bandwidth": Measured(rate, "B/cycle", "tma (ring, L2, one SM)", abs(1 / per_byte - rate)),
        "tma.l2_latency": Measured(
            near[1024] - 1024 / rate - found["mbarrier.wake"].value - submit, "cycles", "tma (latency, L2)"
        ),
        "dram.latency": Measured(one, "cycles", "tma (latency, DRAM less L2, one line)"),
        "dram.latency_many_lines": Measured(many, "cycles", "tma (latency, DRAM less L2, 64 lines and more)"),
        "dram.many_lines": Measured(float(scale), "", "tma (latency against lines)"),
        "dram.latency_jitter": Measured(_jitter(b), "cycles", "tma (latency, DRAM: 10 % to 90 % range as a standard deviation)"),
    }


def _jitter(b: _Benches) -> float:
    rows = [row for row in b.rows("tma", kind="latency", source="dram") if row["bytes"] >= 1024]
    return float(np.mean([(row["cycles_p90"] - row["cycles_p10"]) / 2.563 for row in rows]))


def _drift(b: _Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """Excess per load of the slowest CTA over the mean, beyond what its random walk explains."""
    turns, ctas = 200, 132
    walk = expected_maximum(ctas) * found["dram.latency_jitter"].value / turns**0.5
    excess = [row["period_max"] - row["period_cycles"] - walk
              for row in b.rows("burst", ctas_per_sm=1) if row["bytes"] <= 16384]  # fmt: skip
    return {"dram.drift": Measured(float(np.median(excess)), "cycles", "burst (slowest CTA)", float(np.std(excess)))}


def _lsu(b: _Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """ld.global and cp.async through L1: latency, rate, and the interval of one warp's instructions."""
    far = b.one("cpasync", "wait_cycles", kind="group", lane_bytes=16, warps=1, copies=1, source="l2")
    def group(copies: int) -> float:
        return b.one("cpasync", "issue_cycles", kind="group", lane_bytes=16, warps=1, copies=copies, source="l2")

    def batch(unroll: int) -> float:
        return b.one("ldg", "cycles_per_batch", lane_bytes=16, unroll=unroll, store_shared=False, warps_per_sm=1,
                     sms=1, source="l2", layout="dealt")  # fmt: skip

    rate = max(row["bytes_per_cycle_per_sm"] for row in b.rows("ldg", sms=1, source="l2", store_shared=False))
    chase = b.one("latency", "cycles", bytes=4194304, bypass_l1=True)
    return {
        "lsu.ldg_interval": Measured((batch(4) - batch(1)) / 3.0, "cycles", "ldg (1 and 4 loads, one warp)"),
        "lsu.cp_async_interval": Measured((group(16) - group(1)) / 15.0, "cycles", "cpasync (1 and 16 copies, one warp)"),
        "lsu.bandwidth": Measured(rate, "B/cycle", "ldg (L2, one SM)"),
        "lsu.ldg_l2_latency": Measured(chase, "cycles", "latency (chase through 4 MiB)"),
        "lsu.cp_async_l2_latency": Measured(far, "cycles", "cpasync (one group, commit to wait)"),
        "sm.port_bandwidth": Measured(max(rate, found["tma.bandwidth"].value), "B/cycle", "ldg (L2, one SM)"),
    }


def _memory(b: _Benches, found: dict[str, Measured]) -> dict[str, Measured]:
    """HBM and L2 bandwidth with all SMs; what mixing reads and writes costs; loaded latency."""
    ring = [row for row in b.rows("tma", kind="ring", source="dram") if row["ctas"] % 132 == 0]
    clock = found["sm.clock"].value * 1e6
    sms = int(b.file("tma")["device"]["sm_count"])
    share = float(np.median(sorted(row["bytes_per_cycle_per_sm"] for row in ring)[-20:]))
    def stream(reads: int, writes: int) -> float:
        return max(row["bytes_per_s"] for row in b.rows("hbm", kind="ldg_stg", reads=reads, writes=writes, copy=False))

    bulk = max(row["bytes_per_s"] for row in b.rows("hbm", kind="tma"))
    read, write, mixed = (stream(1, 0) + bulk) / 2.0, stream(0, 1), stream(1, 1)
    ideal = 2.0 / (1.0 / stream(1, 0) + 1.0 / write)
    l2 = max(row["bytes_per_s"] for row in b.rows("l2") if row["footprint_bytes"] <= 32 << 20)
    contention, queue, off = _loaded_latency(b, found, share)
    return {
        "hbm.read_bandwidth": Measured(read / 1e12, "TB/s", "hbm (reads only, ld.global and bulk copies)", abs(stream(1, 0) - bulk) / 1e12),
        "hbm.write_bandwidth": Measured(write / 1e12, "TB/s", "hbm (writes only)"),
        "hbm.mix_loss": Measured(1.0 - mixed / ideal, "", "hbm (half reads, half writes, against each alone)"),
        "hbm.burst_contention": Measured(contention, "", "tma ring and burst (latency beyond that of one SM)", off),
        "hbm.queue_time": Measured(queue / clock * 1e9, "ns", "tma ring and burst (latency beyond that of one SM)", off / clock * 1e9),
        "l2.read_bandwidth": Measured(l2 / 1e12, "TB/s", "l2 (footprints up to 32 MiB)"),
        "tma.store_bandwidth": Measured(
            max(row["bytes_per_cycle_per_sm"] for row in b.rows("tma_store", kind="ring", ctas=1)), "B/cycle", "tma_store (one SM)"
        ),
    }


def _alignment(b: _Benches, _: dict) -> dict[str, Measured]:
    """Bandwidth when copies start off a line (multiples of 32 or 64 B) or off a sector, against aligned ones.

    The starts of neighbouring tiles go through all residues, so bulk copies are taken over sizes;
    cp.async was measured residue by residue and is averaged over them.
    """
    def ratio(rows: Rows, whole: Rows) -> tuple[float, float]:
        best = float(np.median([row["bytes_per_s"] for row in whole]))
        values = [row["bytes_per_s"] / best for row in rows]
        return float(np.mean(values)), float(np.std(values))

    found = {}
    tma = [row for row in b.rows("alignment", unit="tma", offset=0) if row["ctas"] % 132 == 0 and row["bytes"] > 16000]
    whole = [row for row in tma if row["bytes"] % 128 == 0]
    lsu = [row for row in b.rows("alignment", unit="lsu") if row["bytes"] >= 16384]
    by_offset = {offset: ratio([r for r in lsu if r["offset"] == offset], [r for r in lsu if r["offset"] == 0])
                 for offset in (0, 16, 32, 48, 64, 96)}  # fmt: skip
    for name, step in (("sector", 16), ("line", 32)):
        odd = [row for row in tma if row["bytes"] % 128 and (row["bytes"] % 32 != 0) == (step == 16)]
        mean, spread = ratio(odd, whole)
        found[f"tma.unaligned_{name}_efficiency"] = Measured(mean, "", "alignment (bulk copies)", spread)
        residues = [by_offset[offset][0] for offset in by_offset if step == 16 or offset % 32 == 0]
        # Residues 80 and 112 behave as 16 and 48.
        residues += [by_offset[16][0], by_offset[48][0]] if step == 16 else []
        mean = len(residues) / sum(1.0 / value for value in residues)
        found[f"lsu.unaligned_{name}_efficiency"] = Measured(mean, "", "alignment (cp.async)", float(np.std(residues)))
    return found


def _loaded_latency(b: _Benches, found: dict[str, Measured], share: float) -> tuple[float, float, float]:
    """Least squares of (latency with all SMs - latency with one SM) on the two causes.

    ``burst_contention``: a copy of B bytes meets the bursts of SMs that are in step with this one:
    utilisation × B / fair share. ``queue_time``: random arrivals: u / (1 - u + `QUEUE_ROUNDING`).
    """
    single = {(row["bytes"], row["outstanding"]): row["bytes_per_cycle_per_sm"]
              for row in b.rows("tma", kind="ring", source="dram", ctas=1)}  # fmt: skip
    causes, extra = [], []

    def add(size: float, u: float, more: float) -> None:
        if u < 0.97:
            weight = 1.0 / max(more, 60.0)
            causes.append((weight * u * size / share, weight * u / (1.0 - u + QUEUE_ROUNDING)))
            extra.append(weight * more)

    alone: dict[int, float] = {}
    for (size, outstanding), rate in single.items():
        if outstanding == 1:
            alone[size] = size / rate
    for row in b.rows("tma", kind="ring", source="dram"):
        size, outstanding, per_sm = row["bytes"], row["outstanding"], row["ctas_per_sm"]
        if row["ctas"] == 1 or (size, outstanding) not in single or outstanding > 4:
            continue
        rate = row["bytes_per_cycle_per_sm"]
        with_all = outstanding * size * per_sm / rate
        add(size, rate / share, with_all - outstanding * size / single[size, outstanding])
    for row in b.rows("burst", ctas_per_sm=1):
        if row["delay"] and row["bytes"] in alone:
            turn = row["period_cycles"]
            add(row["bytes"], row["bytes"] / turn / share, turn - row["delay"] - alone[row["bytes"]])
    solution, *_ = np.linalg.lstsq(np.array(causes), np.array(extra), rcond=None)
    residual = np.array(causes) @ solution - np.array(extra)
    return float(solution[0]), float(solution[1]), float(np.std(residual))


QUEUE_ROUNDING = 0.05
"""Keeps the queue finite at full load, where a closed system of 132 SMs cannot wait for ever."""


def _launch(b: _Benches, _: dict) -> dict[str, Measured]:
    """Event to event around an empty kernel; hand-out of CTAs; from a CTA's end to the next one's start."""
    def pair(grid: int) -> float:
        return float(np.median([row["seconds"] for row in b.rows("launch", kind="event_pair", grid=grid)]))

    few, many = 16896, 135168
    interval = (pair(many) - pair(few)) / (many - few)
    gaps = [row["gap_cycles_median"] for row in b.rows("launch", kind="waves") if row["waves"] >= 4]
    clock = b.file("launch")["clock_hz"]
    one = [row["seconds"] - row["duration"] / clock for row in b.rows("launch", kind="waves", waves=1, ctas_per_sm=1)]
    start = min(one) - pair(1)
    return {
        "launch.overhead": Measured(pair(1) * 1e6, "us", "launch (event pair around an empty kernel)"),
        "launch.cta_interval": Measured(interval * 1e9, "ns", "launch (empty kernels of 16,896 and 135,168 CTAs)"),
        "cta.start": Measured(start * clock, "cycles", "launch (one wave of spinning CTAs, less the empty kernel)"),
        "cta.restart": Measured(float(np.median(gaps)), "cycles", "launch (waves)", float(np.ptp(gaps))),
    }


def _best(error: Callable[[float], float], candidates: Iterable[float]) -> float:
    return min(candidates, key=error)


_STEPS = (_clock, _issue, _shared_memory, _loop, _barriers, _tma, _drift, _lsu, _memory, _alignment, _launch)
