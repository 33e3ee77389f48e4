"""Activity records of a run by CUPTI: what ran when, on which stream and channel, and every call.

``cupti-python`` is optional and proprietary; where it does not load, `trace` says why and the
caller falls back to CUDA events (`host_run`). Its buffers and callbacks cost the host time
per call, so a traced run is never the one whose total counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["available", "trace"]

TRACED_RUNS = 5
"""An odd number: runs of one program differ, and the timeline should be of a usual one."""

_state: dict[str, Any] = {}

FIELDS = (
    "start", "end", "correlation_id", "stream_id", "bytes", "copy_kind", "channel_id", "channel_type", "src_kind",
    "dst_kind", "device_id", "src_device_id", "thread_id", "name", "cbid", "grid_x", "block_x", "graph_node_id",
    "type", "return_value",
)  # fmt: skip


def available() -> tuple[bool, str]:
    """(True, version), or (False, why not). The first call initialises CUPTI, which takes milliseconds."""
    if "ok" not in _state:
        _state["ok"], _state["reason"] = _prepare()
    return _state["ok"], _state["reason"]


def _prepare() -> tuple[bool, str]:
    try:
        from cupti import cupti
    except Exception as error:  # ImportError, or a missing shared library
        return False, f"cupti-python does not load: {type(error).__name__}: {error}"
    _state["records"] = records = []

    def requested() -> tuple[int, int]:
        return 8 * 1024 * 1024, 0

    def completed(activities: list) -> None:
        # The objects live in CUPTI's buffer: copy what is wanted at once.
        records.extend(_plain(cupti, activity) for activity in activities)

    kinds = cupti.ActivityKind
    _state["kinds"] = (
        kinds.CONCURRENT_KERNEL, kinds.MEMCPY, kinds.MEMCPY2, kinds.MEMSET, kinds.RUNTIME, kinds.DRIVER,
        kinds.SYNCHRONIZATION,
    )  # fmt: skip
    try:
        cupti.activity_register_callbacks(requested, completed)
        # Once through, so that the first traced run does not pay for loading.
        for kind in _state["kinds"][2:]:
            if not _accepts(cupti, kind):
                _state["kinds"] = tuple(k for k in _state["kinds"] if k != kind)
        _enable(cupti, True)
        _enable(cupti, False)
        cupti.activity_flush_all(1)
    except Exception as error:
        return False, f"CUPTI refuses: {type(error).__name__}: {error}"
    records.clear()
    return True, f"cupti-python {getattr(cupti, '__version__', '')}".strip()


def _accepts(cupti: Any, kind: Any) -> bool:
    """Whether a kind of record that can be done without is to be had."""
    try:
        cupti.activity_enable(kind)
        cupti.activity_disable(kind)
    except Exception:
        return False
    return True


def _enable(cupti: Any, on: bool) -> None:
    for kind in _state["kinds"]:
        (cupti.activity_enable if on else cupti.activity_disable)(kind)


def _plain(cupti: Any, activity: Any) -> dict[str, Any]:
    kind = int(activity.kind)
    record: dict[str, Any] = {"kind": _kind_name(cupti, kind)}
    for field in FIELDS:
        value = getattr(activity, field, None)
        if value is not None:
            record[field] = value if isinstance(value, str) else int(value)
    if "cbid" in record:
        domain = cupti.CallbackDomain.DRIVER_API if record["kind"] == "DRIVER" else cupti.CallbackDomain.RUNTIME_API
        record["name"] = _call_name(cupti, int(domain), record["cbid"])
    return record


def _kind_name(cupti: Any, kind: int) -> str:
    names = _state.setdefault("kind_names", {})
    if kind not in names:
        names[kind] = cupti.ActivityKind(kind).name
    return names[kind]


def _call_name(cupti: Any, domain: int, cbid: int) -> str:
    names = _state.setdefault("call_names", {})
    key = domain, cbid
    if key not in names:
        try:
            names[key] = str(cupti.get_callback_name(domain, cbid))
        except Exception:
            names[key] = f"call {cbid}"
    return names[key]


def trace(run: Callable[[], float]) -> tuple[float, list[dict[str, Any]]]:
    """Run under CUPTI; (the traced run's seconds, its records sorted by start).

    The median of `TRACED_RUNS`, behind one that is not kept: the first launch behind a flush takes some 0.4 ms, in
    which CUPTI gets its buffer. Times are nanoseconds of CUPTI's clock, the same for host and device records.

    Raises RuntimeError where CUPTI is not available.
    """
    ok, reason = available()
    if not ok:
        raise RuntimeError(reason)
    import cupy
    from cupti import cupti

    def idle_at() -> int:
        cupy.cuda.runtime.deviceSynchronize()
        return int(cupti.get_timestamp())

    records = _state["records"]
    runs = []
    idle_at()
    records.clear()
    _enable(cupti, True)
    try:
        run()
        for _ in range(TRACED_RUNS):
            begin, total = idle_at(), run()
            runs.append((total, begin, int(cupti.get_timestamp())))
        idle_at()
        cupti.activity_flush_all(1)
    finally:
        _enable(cupti, False)
    total, begin, end = sorted(runs)[len(runs) // 2]
    found = sorted(
        (r for r in records if begin <= r.get("start", 0) < end), key=lambda r: (r["start"], r.get("end", 0))
    )
    records.clear()
    return total, found
