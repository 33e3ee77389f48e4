"""Host functions, host threads that hold each other up, and new ones: from bench rows to quantities."""

from __future__ import annotations

from statistics import fmean

from gpusim.hardware.calibration.benches import Measured
from gpusim.host.calibration.benches import Found, HostBenches, us
from gpusim.host.device.sleep import POINTS_US

__all__ = ["STEPS"]


def _callers(b: HostBenches, _: Found) -> Found:
    """What host functions cost a thread that makes calls, from the same turns of calls with and without them.

    The first call of its kind after one has run takes longer, and one that runs while the thread is in calls holds it
    up. And what it costs to take a free slot. Runs that were made before there was such a bench say nothing.
    """
    found: Found = {}
    for api, bench in (("cupy", "calls"), ("cuda", "cpp")):
        times: dict[str, dict[str, float]] = {"functions": {}, "nothing": {}}
        for row in b.head(bench)["rows"]:
            if row.get("call", "").startswith("beside: "):
                times[row["state"]].setdefault(row["call"].removeprefix("beside: "), 1e6 * row["median_s"])
        with_, without = (sum(at.get(call, 0.0) for call in ("MemcpyAsync", "Launch")) for at in times.values())
        if without:
            ratio = max(with_ / without, 1.0)
            found[f"host.{api}.after_func"] = Measured(ratio, "", f"{bench} (beside: first MemcpyAsync and Launch)")
        if "AcquireSlot" in times["functions"]:
            found[f"host.{api}.acquire"] = us(times["functions"]["AcquireSlot"], f"{bench} (beside: AcquireSlot)")
    turns = {r["state"]: r for r in b.head("calls")["rows"] if r.get("call") == "interrupted: 8 Launch"}
    if turns:
        longer = 1e6 * (turns["functions"]["row_s"] - turns["nothing"]["row_s"])
        first = (found["host.cupy.after_func"].value - 1.0) * 1e6 * turns["nothing"]["row_s"] / 8
        asked = b.us("calls", call="beside: HostFunc")
        stolen = (longer - first - asked) / turns["functions"]["functions"]
        found["host.cupy.func_steals"] = us(max(stolen, 0.0), "calls (interrupted: 8 Launch)")
    return found


def _host_functions(b: HostBenches, found: Found) -> Found:
    """The way to a host function and back to the device, and to a thread that waits for what it releases.

    A second function right behind the first costs the way to a function whose thread is awake. How much longer a
    thread takes that has slept comes from functions behind kernels of several lengths: seen by a thread that is
    awake, and by one that waits, too. The rest of the gap between two kernels of 10 us is the way back.
    """
    gaps = [b.us("device", "gap_median_s", kind="kernel_host_func_kernel", count=count) for count in (1, 2)]
    there, launch = gaps[1] - gaps[0], b.call("cupy", "launch")
    before = launch + found["stream.start"].value + b.restart_us
    times = {
        call: {
            round(1e6 * r["kernel_s"]): 1e6 * r["median_s"] for r in b.rows("calls", call=f"launch_host_func_{call}")
        }
        for call in ("seen", "acquire")
    }
    source = "calls (launch_host_func_seen, launch_host_func_acquire)"
    result: Found = {}
    func = {us_: max(times["seen"][us_] - before - there, 0.0) for us_ in POINTS_US}
    awake = max(min(times["acquire"][us_] - times["seen"][us_] for us_ in (0, *POINTS_US)), 0.0)
    for slept in POINTS_US:
        slot = max(times["acquire"][slept] - times["seen"][slept] - awake, 0.0)
        result[f"wake.func_{slept}us"] = us(func[slept], source)
        result[f"wake.slot_{slept}us"] = us(slot, source)
    back = gaps[0] - b.restart_us - there - func[POINTS_US[0]]
    result["stream.func_kernel"] = us(max(back, 0.0), "device (kernel_host_func_kernel), calls")
    for api in ("cupy", "cuda"):
        result[f"host.{api}.host_func_run"] = us(there, "device (kernel_host_func_kernel, one and two functions)")
        result[f"host.{api}.slot_wake"] = us(awake, source)
    return result


def _threads(b: HostBenches, _: Found) -> Found:
    """How long a launch keeps those of other threads out, when four threads launch at the same time.

    In Python the threads take turns altogether, and taking turns costs; in C++ a part of the call is under a lock.
    """
    cupy = 1e6 * b.rows("calls", call="launch_from_threads", bytes=4)[0]["row_s"] / 4
    cuda = b.us("cpp", call="launch_from_threads", bytes=4) / 4
    return {
        "host.cupy.lock": us(cupy, "calls (launch_from_threads)"),
        "host.cuda.lock": us(cuda, "cpp (launch_from_threads)"),
    }


def _new_threads(b: HostBenches, _: Found) -> Found:
    """How much longer the first launch of a new thread takes than its third, and how long it keeps other threads out.

    The second: four new threads at once, from the begin of the first launch to the end of the last first one; that more
    threads take longer each is left out. On an ordinary stream and on the thread's own it takes equally long, within
    what the rows repeat to: their mean. Runs that were made before there were such rows say nothing.
    """
    found: Found = {}
    for api, bench in (("cupy", "calls"), ("cuda", "cpp")):
        rows = [row for row in b.head(bench)["rows"] if row.get("state") in ("ordinary", "per_thread")]
        alone = {(row["state"], row["bytes"]): 1e6 * row["median_s"] for row in rows if row["call"] == "new_thread"}
        four = [row for row in rows if row["call"] == "new_threads" and row["bytes"] == 4]
        together = [1e6 * row["median_s"] / row["bytes"] for row in four]
        if not together:
            continue
        longer = fmean(alone[state, 1] - alone[state, 3] for state in ("ordinary", "per_thread"))
        found[f"host.{api}.thread_first"] = us(max(longer, 0.0), f"{bench} (new_thread)")
        found[f"host.{api}.thread_first_lock"] = us(fmean(together), f"{bench} (new_threads)")
    return found


STEPS = (_callers, _host_functions, _threads, _new_threads)
