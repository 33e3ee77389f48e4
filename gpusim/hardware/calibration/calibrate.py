"""From raw microbenchmark results to the measured quantities of a device profile.

Each function isolates one mechanism; its docstring says which benches and how. Nothing here sees the recording of a
technique. Raw results are the JSON files of ``realkernels.microbench``: one per bench, rows of parameters and cycles.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpusim.hardware.calibration.access import ACCESS_STEPS
from gpusim.hardware.calibration.alignment import ALIGNMENT_STEPS
from gpusim.hardware.calibration.atomics import ATOMIC_STEPS
from gpusim.hardware.calibration.barriers import BARRIER_STEPS
from gpusim.hardware.calibration.behind_copies import BEHIND_COPIES_STEPS
from gpusim.hardware.calibration.benches import Benches, Measured
from gpusim.hardware.calibration.clusters import CLUSTER_STEPS
from gpusim.hardware.calibration.gpc_sharing import GPC_SHARING_STEPS
from gpusim.hardware.calibration.memory import MEMORY_STEPS
from gpusim.hardware.calibration.schedule import SCHEDULE_STEPS
from gpusim.hardware.calibration.tensor import TENSOR_STEPS
from gpusim.hardware.calibration.walk import WALK_STEPS
from gpusim.program import WARP_SIZE
from gpusim.program.sass import Instruction, dispatch_stalls

__all__ = ["measure_quantities"]

_MANY_STALLS = 10
"""Cycles in one turn of a loop; fewer vanish among the rest."""
_SCHEDULERS = 4
"""Of an SM with bulk copies; all were loaded."""
_FILLED = 4
"""Warps of a scheduler that do not wait for themselves."""
_MANY_WARPS = 16
"""So many do not wait for themselves."""


def measure_quantities(folder: Path) -> dict[str, Measured]:
    """All measured quantities from the bench results in ``folder``, by name.

    Raises RecordingError if a bench is missing or unreadable.
    """
    benches = Benches(folder)
    found: dict[str, Measured] = {}
    for step in _STEPS:
        found.update(step(benches, found))
    return found


def _clock(b: Benches, _: dict) -> dict[str, Measured]:
    """SM clock: clock64 over globaltimer while FP32 units and memory are loaded."""
    values = [row["clock_hz"] / 1e6 for row in b.rows("clock") if row["load"] != "rest"]
    return {"sm.clock": Measured(float(np.median(values)), "MHz", "clock", float(np.ptp(values)))}


def _issue(b: Benches, _: dict) -> dict[str, Measured]:
    """FP32 issue rate and latency, special functions: loops of 1024 FFMAs, 3 loop instructions per turn."""
    body = 1024
    turn = body / (body + 3)
    rate = [r["cycles_per_instruction"] * turn
            for r in b.rows("issue", op="ffma_xab", body=body, ilp=4) if r["warps_per_scheduler"] >= 2]  # fmt: skip
    latency = b.one("issue", "cycles_per_instruction", op="ffma_xab", body=body, ilp=1, warps_per_scheduler=1)
    mufu = b.one("issue", "cycles_per_instruction", op="mufu_ex2", ilp=8, beside="alone", warps_per_scheduler=4)
    integer = b.one("issue", "cycles_per_instruction", op="shf", ilp=1, warps_per_scheduler=1)
    chain = {"op": "constant", "ilp": 1, "beside": "alone"}
    constant = b.one("issue", "cycles_per_instruction", **chain, warps_per_scheduler=8)
    constant_latency = b.one("issue", "cycles_per_instruction", **chain, warps_per_scheduler=1)
    return {
        "sm.ffma_issue_rate": Measured(1.0 / float(np.mean(rate)), "/cycle", "issue", float(np.ptp(rate))),
        "sm.ffma_latency": Measured(latency * turn, "cycles", "issue"),
        "sm.mufu_issue_interval": Measured(mufu, "cycles", "issue"),
        "sm.dispatch_stall": _dispatch_stall(b),
        "sm.ldc_interval": Measured(constant / _SCHEDULERS, "cycles", "issue (chains of loads, all schedulers)"),
        "sm.ldc_latency": Measured(constant_latency - integer, "cycles", "issue (a chain, less its address)"),
    }


def _dispatch_stall(b: Benches) -> Measured:
    """What one of the cycles takes that `dispatch_stalls` counts in the SASS of a loop."""
    rows = b.rows("operands")
    sass = {(row["kind"], row["seed"]): [Instruction.of(text) for text in row["sass_turn"]]
            for row in rows if row["sass_turn"]}  # fmt: skip
    extra, counted = [], []
    for row in rows:
        if row["warps_per_scheduler"] == _FILLED:
            turn = sass[row["kind"], row["seed"]]
            stalls = dispatch_stalls(turn)
            counted.append(stalls.register_conflicts + stalls.pipe_stalls)
            extra.append(row["cycles_per_turn"] / _FILLED - len(turn))
    each = [more / cycles for more, cycles in zip(extra, counted, strict=True) if cycles >= _MANY_STALLS]
    source = f"operands ({len(each)} loops, stalls counted in their SASS)"
    return Measured(sum(extra) / sum(counted), "cycles", source, float(np.std(each)))


def _shared_memory(b: Benches, _: dict) -> dict[str, Measured]:
    """Shared-memory latency (pointer chase) and the interval at which one warp alone can issue."""
    wavefronts = np.array([1.0, 2.0, 4.0])

    def interval(kind: str, wide: float) -> float:
        """Cycles that one more access in a turn takes."""
        turns = sorted(
            (row["batch"], row["batch"] * row["cycles"]) for row in b.rows("lds", kind=kind, bits=int(32 * wide))
        )
        slope, _ = np.polyfit(*zip(*turns, strict=True), 1)
        return float(slope)

    found = {}
    latency = np.array([b.one("lds", "cycles", kind="latency", bits=int(32 * w), warps=1) for w in wavefronts])
    storing = np.array([interval("store_batch", w) for w in wavefronts])
    for cycles, name in ((latency, "lds_latency"), (storing, "sts_interval")):
        slope, start = np.polyfit(wavefronts - 1.0, cycles, 1)
        off = float(np.abs(start + slope * (wavefronts - 1.0) - cycles).max())
        found[f"sm.{name}"] = Measured(float(start), "cycles", "lds", off)
        found[f"sm.{name}_per_extra_wavefront"] = Measured(float(slope), "cycles", "lds", off)
    found["sm.lds_interval"] = Measured(interval("load_batch", 1.0), "cycles", "lds (one warp, 32 bits)")
    found["sm.lds_interval_per_wavefront"] = Measured(
        interval("load_batch", 4.0) / 4.0, "cycles", "lds (one warp, 128 bits)"
    )
    # All lanes load the same 16 bytes: what is left is the time of the request.
    request = 32 * 16 / b.one("lds", "cycles", kind="sharing", bits=128, sharing="all")
    found["lsu.request_bandwidth"] = Measured(request, "B/cycle", "lds (all lanes load the same 16 bytes)")
    for unit, beside in (("ldg", "ld.global"), ("cp_async", "cp.async")):
        found[f"lsu.{unit}_data_interval"] = _beside_shared_loads(b, beside)
    return found


def _masked(b: Benches, _: dict[str, Measured]) -> dict[str, Measured]:
    """Time of the load-store unit for an access that no lane executes, for a cp.async, and for the end of a group."""

    def beside(access: str, loads: int) -> float:
        """What an access and its placeholders add to ``loads`` loads from shared memory, 32 warps."""
        rows = [b.rows("masked", access=kind, beside=loads, warps=32)[0] for kind in (access, "none")]
        return rows[0]["cycles"] - rows[1]["cycles"]

    names, loads = ("ld.shared", "st.shared", "ld.global"), (1, 2)
    masked = [beside(access, n) for access in names for n in loads]
    placeholders = b.rows("masked", access="cp.async", beside=1)[0]["placeholders"]
    masked += [beside("cp.async", n) / (placeholders + 1) for n in loads]
    interval = float(np.median(masked))
    copies = [beside("copy", n) - placeholders * interval for n in loads]
    commits = [row["cycles"] for row in b.rows("masked", access="commit", beside=0) if row["warps"] >= _MANY_WARPS]
    return {
        "lsu.masked_interval": Measured(
            interval, "cycles", "masked (beside loads from shared memory)", float(np.ptp(masked))
        ),
        "lsu.cp_async_request_interval": Measured(
            float(np.mean(copies)), "cycles", "masked (cp.async beside ld.shared, less those)", float(np.ptp(copies))
        ),
        "lsu.commit_interval": Measured(
            float(np.mean(commits)), "cycles", "masked (ends of empty groups)", float(np.ptp(commits))
        ),
    }


def _beside_shared_loads(b: Benches, beside: str) -> Measured:
    """Time of the data path that 128 moved bytes take from loads of 16 bytes per lane from shared memory."""
    path = b.one("pipes", "shared_bytes_per_cycle", bits=128, beside="nothing", sms=1)
    rows = b.rows("pipes", bits=128, beside=beside, readers=16)
    taken = [(path - row["shared_bytes_per_cycle"]) / row["moved_bytes_per_cycle"] for row in rows]
    return Measured(float(np.mean(taken)), "cycles", f"pipes ({beside} beside ld.shared)", float(np.ptp(taken)))


def _loop(b: Benches, found: dict[str, Measured]) -> dict[str, Measured]:
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


def _launch(b: Benches, _: dict) -> dict[str, Measured]:
    """Event to event around an empty kernel; hand-out of CTAs, at first and later; from one's end to the next start."""

    def pair(grid: int) -> float:
        return float(np.median([row["seconds"] for row in b.rows("launch", kind="event_pair", grid=grid)]))

    few, many = 16896, 135168
    interval = (pair(many) - pair(few)) / (many - few)
    turnover = b.rows("launch", kind="turnover", ctas_per_sm=1)
    warps = np.array([row["block"] / WARP_SIZE for row in turnover])
    cycles = np.array([row["cycles_per_wave"] for row in turnover])
    per_warp, restart = np.polyfit(warps, cycles, 1)
    off = float(np.abs(restart + per_warp * warps - cycles).max())
    clock = b.file("launch")["clock_hz"]
    one = min(row["seconds_min"] - row["duration"] / clock for row in b.rows("launch", kind="once"))
    start = one - min(row["seconds_min"] for row in b.rows("launch", kind="event_pair", grid=1))
    gaps = [gap for row in b.rows("first_wave") for gap in row["gap_cycles"]]
    return {
        "launch.first_wave_interval": Measured(
            float(np.median(gaps)), "cycles", "first_wave", float(np.subtract(*np.percentile(gaps, (75, 25))))
        ),
        "launch.overhead": Measured(pair(1) * 1e6, "us", "launch (event pair around an empty kernel)"),
        "launch.cta_interval": Measured(interval * 1e9, "ns", "launch (empty kernels of 16,896 and 135,168 CTAs)"),
        "cta.start": Measured(start * clock, "cycles", "launch (a CTA on each SM that spins, less the empty kernel)"),
        "cta.restart": Measured(float(restart), "cycles", "launch (turnover of empty CTAs)", off),
        "cta.restart_per_warp": Measured(float(per_warp), "cycles", "launch (turnover, 1 to 32 warps)"),
    }


_STEPS = (
    _clock, _issue, *TENSOR_STEPS, *SCHEDULE_STEPS, _shared_memory, _masked, *BEHIND_COPIES_STEPS, _loop,
    *BARRIER_STEPS, _launch, *CLUSTER_STEPS, *WALK_STEPS, *MEMORY_STEPS, *GPC_SHARING_STEPS, *ALIGNMENT_STEPS,
    *ACCESS_STEPS, *ATOMIC_STEPS,
)  # fmt: skip
