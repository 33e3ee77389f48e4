"""Two devices: from bench rows to quantities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusim.host.calibration.benches import MIB, Found, HostBenches, line, rate, us

__all__ = ["STEPS"]


def _copies(b: HostBenches, _: Found) -> Found:
    """Bandwidth from the largest copies that the device that is read is asked for, overhead from all below."""
    times = {row["bytes"]: 1e6 * row["seconds"] for row in b.rows("peers", kind="size", way="push")}
    large = [size for size in times if size >= 16 * MIB]
    _, bandwidth, _ = line(large, [times[size] for size in large])
    rest = [time - 1e6 * size / bandwidth for size, time in times.items() if size not in large]
    return {
        "copy.p2p_bandwidth": rate(bandwidth, "peers (size, push, from 16 MiB)"),
        "copy.p2p_overhead": us(float(np.median(rest)), "peers (size, push, below 16 MiB)", float(np.ptp(rest))),
    }


def _events(b: HostBenches, _: Found) -> Found:
    """What a kernel takes longer to follow one of the other device: at least, and until somebody looks.

    Kernels of different lengths meet the looks everywhere, so that the mean wait is half the way from one to the next.
    """
    same, across = (
        [1e6 * (row["period_s"] - row["kernel_s"]) for row in b.rows("peers", kind="chain", chain=chain)]
        for chain in ("same device", "kernels")
    )
    least = min(across)
    return {
        "stream.peer_hop": us(least - float(np.median(same)), "peers (chains of kernels; least)"),
        "stream.peer_retry": us(2.0 * (float(np.mean(across)) - least), "peers (chains of kernels; mean less least)"),
    }


def _calls(b: HostBenches, _: Found) -> Found:
    found = {}
    for api in ("cupy", "cuda"):

        def row(call: str, api: str = api) -> float:
            return b.us("peers", "row_s", kind="call", api=api, call=call)

        change = max(row("two launches on two devices") - row("two launches"), row("two set_device"))
        calls = {
            "memcpy_peer": row("copy: push"), "memcpy_pull": row("copy: pull"),
            "set_device": change / 2, "wait_peer_event": row("wait of the other device"),
        }  # fmt: skip
        found |= {f"host.{api}.{name}": us(value, "peers (calls)") for name, value in calls.items()}
    return found


STEPS: tuple[Callable[[HostBenches, Found], Found], ...] = (_copies, _events, _calls)
