"""How a device goes from one entry of a stream or graph to the next: from bench rows to quantities.

All from rows in which everything was queued beforehand, so that no host time is in them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusim.hardware.calibration.benches import Measured
from gpusim.host.calibration.benches import KIB, MIB, Found, HostBenches, us
from gpusim.program.host import TO_OR_FROM_HOST

__all__ = ["STEPS"]


def _kernels_in_turn(b: HostBenches, _: Found) -> Found:
    """From one kernel to the next of a stream, and how often a channel that waits for another engine looks again."""
    kernels = [r for r in b.rows("device", kind="kernel_kernel") if r["grid"] == 1 and r["kernel_s"] > 0]
    gaps = [1e6 * r["gap_median_s"] for r in kernels]
    return {
        "stream.kernel_kernel": us(
            float(np.median(gaps)) - b.restart_us, "device (kernel_kernel)", float(np.ptp(gaps))
        ),
        "stream.retry": us(_retry_period(b), "device (kernels of 10 us around copies: time from start to start)"),
    }


def _hand_overs(b: HostBenches, found: Found) -> Found:
    """Between kernels and copies of a stream, and around copies within a device.

    A channel that waits for another engine looks again after a fixed time: with kernels of 10 us and copies of up to
    64 KiB the time from kernel to kernel is a multiple of it. Half of it is lost at each hand-over of longer
    work; what is left of the mean gap, less the copy, belongs to the two hand-overs in equal parts.
    """
    restart, period, left = b.restart_us, found["stream.retry"].value, []
    for direction in TO_OR_FROM_HOST:
        for size in (256 * KIB, MIB, 4 * MIB, 16 * MIB):
            gap = b.us("device", "gap_mean_s", kind=f"kernel_{direction}_kernel", bytes=size, count=1)
            bandwidth = found[f"copy.{direction}_bandwidth"].value * 1e9
            left.append(gap - restart - 1e6 * size / bandwidth - found[f"copy.{direction}_overhead"].value - period)
    each = us(
        max(float(np.mean(left)) / 2, 0.0), "device (kernel_h2d_kernel, kernel_d2h_kernel)", float(np.std(left)) / 2
    )
    around_d2d = b.us("device", "gap_median_s", kind="kernel_d2d_kernel", bytes=4, count=1)
    device = around_d2d - found["copy.d2d_overhead"].value - restart
    return {
        **dict.fromkeys(("stream.kernel_copy", "stream.copy_kernel", "stream.copy_copy"), each),
        "stream.device_copy": us(max(device, 0.0) / 2, "device (kernel_d2d_kernel)"),
    }


def _events(b: HostBenches, _: Found) -> Found:
    """A record, or a wait for one that has passed, by four of them against one; and a hop to another stream."""

    def mean_gap(count: int) -> float:
        kinds = ("kernel_event_record_kernel", "kernel_wait_passed_event_kernel")
        return float(np.mean([b.us("device", "gap_median_s", kind=kind, count=count) for kind in kinds]))

    hop = b.us("device", "gap_median_s", kind="event_hop_kernel") - b.restart_us
    return {
        "stream.event": us(max(mean_gap(4) - mean_gap(1), 0.0) / 3, "device (1 and 4 events)"),
        "stream.event_hop": us(hop, "device (event_hop_kernel)"),
    }


def _graphs(b: HostBenches, _: Found) -> Found:
    """From a node to the next one of its branch, to one of another branch, and from a graph to the next."""

    def gap(kind: str) -> Measured:
        return us(b.us("device", "gap_median_s", kind=kind) - b.restart_us, f"device ({kind})")

    return {
        "graph.node": gap("graph_chain"),
        "graph.fork": gap("graph_fork_join"),
        "graph.launch_gap": gap("graph_after_graph"),
    }


def _retry_period(b: HostBenches) -> float:
    """The largest time, in steps of 1.024 us, of which the observed distances between kernel starts are multiples."""
    tick, seen = 1.024, []
    for direction in TO_OR_FROM_HOST:
        for size in (4 * KIB, 64 * KIB, 256 * KIB):
            for count in (1, 2, 4):
                row = b.rows("device", kind=f"kernel_{direction}_kernel", bytes=size, count=count)[0]
                seen += [1e6 * (row[f"gap_{q}_s"] + row["kernel_s"]) for q in ("p10", "median", "p90")]
    values = np.array(seen)
    # The kernel starts up to one tick after its wait has ended.
    best = [(float(np.mean(np.minimum(values % (n * tick), 9.0) <= 1.5 * tick)), n) for n in range(4, 17)]
    share = max(best)[0]
    return max(n for s, n in best if s >= 0.9 * share) * tick


STEPS: tuple[Callable[[HostBenches, Found], Found], ...] = (_kernels_in_turn, _hand_overs, _events, _graphs)
