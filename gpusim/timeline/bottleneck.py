"""What holds a timeline back, and what would move it."""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.timeline.critical_path import critical_path
from gpusim.timeline.metrics import achieved_bandwidth, achieved_flop_rate
from gpusim.timeline.timeline import Timeline

__all__ = ["Bottleneck", "bottleneck"]

BOUND = 0.8
"""Share of a peak from which the peak itself is what holds a kernel back."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """``share`` is that of the peak reached, or of the critical path taken."""

    name: str
    share: float
    lever: str


_BY_KIND = {
    "copy": ("copy latency", "more stages or larger tiles, so that more bytes are in flight"),
    "load": ("load latency", "asynchronous copies, more loads in flight per thread, or more CTAs per SM"),
    "compute": ("instruction issue of the computing warps", "more computing warps, more chains, or less work per byte"),
    "issue": ("issuing copies", "wider or bulk copies, or a warp of its own for them"),
    "store": ("stores", "wider or bulk stores, or a warp of its own for them"),
    "wait": ("hand-over between warps", "larger tiles, or fewer warps to hand over to"),
    "barrier": ("barriers", "larger tiles, fewer warps per barrier, or mbarriers in place of __syncthreads"),
}  # fmt: skip


def bottleneck(timeline: Timeline) -> Bottleneck | None:
    """The peak that is reached, else the kind with the largest share of the critical path.

    Peaks are taken from ``meta`` (``peak_bytes_per_s``, ``peak_flop_per_s``) where it has
    them. None for a timeline without intervals that reaches no peak.
    """
    peaks = (
        (
            "memory bandwidth",
            achieved_bandwidth(timeline),
            "peak_bytes_per_s",
            "move fewer bytes: fuse, reuse, compress",
        ),
        ("FP32 arithmetic", achieved_flop_rate(timeline), "peak_flop_per_s", "compute less, or on the tensor cores"),
    )
    for name, rate, peak, lever in peaks:
        limit = timeline.meta.get(peak)
        if limit and rate >= BOUND * limit:  # NaN compares false
            return Bottleneck(name, rate / limit, lever)
    path = critical_path(timeline)
    length = sum(path.by_kind.values())
    if not length:
        return None
    name, lever = _BY_KIND.get(path.bottleneck, (path.bottleneck, ""))
    return Bottleneck(name, path.by_kind[path.bottleneck] / length, lever)
