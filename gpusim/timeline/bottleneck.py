"""What holds a timeline back, and what would move it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from gpusim.timeline.critical_path import critical_path
from gpusim.timeline.lane_names import COPY_ENGINES, HOST_THREADS, STREAMS, any_host, device_of, last_part
from gpusim.timeline.metrics import achieved_bandwidth, achieved_flop_rate, memory_share
from gpusim.timeline.roofline import BOUND, FP32, TENSOR_CORES
from gpusim.timeline.timeline import Timeline
from gpusim.timeline.unions import union_length

__all__ = ["CRITICAL_PATH", "PEAK", "TIME", "Bottleneck", "bottleneck"]

CRITICAL_PATH, PEAK, TIME = "the critical path", "its peak", "the time"
"""What the share of a bottleneck is a share of."""

WASTED = 0.6
"""Part of the memory traffic that is wanted below which fetching less is the thing to do."""
L2_FULL = 0.9
"""Share of the time from which L2 is what holds a kernel back: one that is less busy keeps nobody waiting for long."""
LOST = 0.05
"""Part of the bandwidth of memory from which what is lost on the way is the thing to save."""
WORTH_NAMING = 0.5
"""Share of the time below which neither a unit nor the launch is what holds a program back."""


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """What holds a timeline back. ``share``: 0..1, of what ``of`` says."""

    name: str
    share: float
    lever: str
    of: str = CRITICAL_PATH


_BY_KIND = {
    "copy": ("copy latency", "more bytes in flight: more stages, larger tiles or more CTAs"),
    "load": ("load latency", "asynchronous copies, more loads per thread, more CTAs"),
    "compute": ("instruction issue", "more computing warps, more chains, less work per byte"),
    "product": ("products on tensor cores", "compute less, or in a narrower type; products of 128 columns and more"),
    "issue": ("issuing copies", "wider or bulk copies, or fewer of them; a warp of its own if it has none"),
    "store": ("stores", "fewer bytes, or more output stages; wider or bulk stores if they are not"),
    "wait": ("hand-over between warps", "larger tiles, or fewer warps to hand over to"),
    "launch": ("start of CTAs", "more work in each CTA: larger tiles, or several one after the other"),
    "barrier": ("barriers", "larger tiles, fewer warps per barrier, or mbarriers"),
}  # fmt: skip


_BY_FRAGMENTS = (
    "fragments and mma.sync",
    "load fragments further ahead of their products, a larger tile for each warp, or wgmma",
)
_LESS = {FP32: "compute less, or on the tensor cores", TENSOR_CORES: "compute less, or in a narrower type"}


_ON_A_LINE = "tiles that start on 128-byte lines, if need be padded: L2 holds up bulk copies off a line"
_THROUGH_IT = "copy fewer bytes; let threads store, or load, what need not pass the copy unit"
_FEWER_TURNS = "fewer bank conflicts, wider loads, what is read again in registers, counters apart for lanes that meet"
_NEARER = "load less from other CTAs of the cluster: multicast copies, or parts that each works on for all"
_READ_LESS = "read less often, in whole lines: larger tiles, or keep what is read again in shared memory"
_MEET_LESS = "sums of a warp or CTA first, in registers or shared memory, and more copies of what all update"
_APART = "larger tiles, or clusters that copy for each other: SMs that wait for L2 no longer read together"


def bottleneck(timeline: Timeline) -> Bottleneck | None:
    """The peak that is reached (the larger share of two), else the kind with the largest share of the critical path.

    Peaks are taken from ``meta`` (``peak_bytes_per_s``, ``peak_flop_per_s``, ``l2_busy``, ``copy_unit_busy``,
    ``network_busy``, ``shared_busy``, ``atomics_busy``) where it has them; so is the part of the first that is lost
    (``off_line_loss``). For streams and copies it is the unit that works most of the time: a copy engine, the kernels,
    or a thread of the host; where none does, ``waits_in_chunks`` of ``meta`` tells whether the host is why. None for a
    timeline without intervals that reaches no peak.
    """
    peak = _peak(timeline)
    if peak is not None:
        return peak
    unit = _busiest_unit(timeline)
    if unit is not None:
        return unit
    launch = timeline.meta.get("launch_s", 0.0) / timeline.total_s if timeline.total_s > 0 else 0.0
    if launch >= WORTH_NAMING:
        more = "more work in one launch: fewer and larger kernels, or a graph"
        return Bottleneck("launch overhead", launch, more, TIME)
    path = critical_path(timeline)
    length = sum(path.by_kind.values())
    if not length:
        return None
    name, lever = _BY_KIND.get(path.bottleneck, (path.bottleneck, ""))
    if path.bottleneck == "compute" and _waits_for_products(timeline):
        name, lever = _BY_FRAGMENTS
    if path.bottleneck == "product" and _tensor_cores_busy(timeline) < BOUND:
        lever = "ask for the next products before these are waited for (one pending), or another warpgroup"
    return Bottleneck(name, path.by_kind[path.bottleneck] / length, lever)


def _peak(timeline: Timeline) -> Bottleneck | None:
    """The peak of memory or arithmetic that is reached, or else what is full on the way, if any."""
    taken, used = memory_share(timeline), achieved_bandwidth(timeline) / timeline.meta.get("peak_bytes_per_s", inf)
    reached = achieved_flop_rate(timeline) / timeline.meta.get("peak_flop_per_s", inf)
    lost = timeline.meta.get("off_line_loss", 0.0)
    if lost >= LOST and taken + lost >= BOUND and not reached > taken:
        return Bottleneck("memory bandwidth", taken, _ON_A_LINE, PEAK)
    if taken >= BOUND and not reached > taken:  # NaN compares false
        fewer = "move fewer bytes: fuse, reuse, compress"
        denser = "use all that is fetched: neighbouring lanes side by side, wider vectors"
        return Bottleneck("memory bandwidth", taken, denser if used < WASTED * taken else fewer, PEAK)
    if reached >= BOUND:
        name = timeline.meta.get("arithmetic", FP32)
        return Bottleneck(name, reached, _LESS[name], PEAK)
    return _full_way(timeline)


def _full_way(timeline: Timeline) -> Bottleneck | None:
    """What is full on the way between SMs and L2, to each other or to their shared memory, if anything."""
    l2, atomics = (timeline.meta.get(f"{what}_busy", 0.0) for what in ("l2", "atomics"))
    if atomics >= max(BOUND, l2):
        return Bottleneck("atomics", atomics, _MEET_LESS, TIME)
    if l2 >= L2_FULL:
        return Bottleneck("L2 bandwidth", l2, _APART if timeline.meta.get("moving_apart") else _READ_LESS, PEAK)
    passing = timeline.meta.get("copy_unit_busy", 0.0)
    if passing >= BOUND:
        return Bottleneck("copy unit (TMA)", passing, _THROUGH_IT, TIME)
    network = timeline.meta.get("network_busy", 0.0)
    if network >= BOUND:
        return Bottleneck("network between SMs", network, _NEARER, TIME)
    shared = timeline.meta.get("shared_busy", 0.0)
    return Bottleneck("shared memory", shared, _FEWER_TURNS, PEAK) if shared >= BOUND else None


def _waits_for_products(timeline: Timeline) -> bool:
    """Whether a kernel multiplies on the tensor cores by instructions that a warp waits for."""
    return timeline.meta.get("arithmetic") == TENSOR_CORES and not timeline.mask(kinds=("product",)).any()


def _tensor_cores_busy(timeline: Timeline) -> float:
    """Part of the time between their first product and their last in which the tensor cores of an SM work."""
    keep = timeline.mask(kinds=("product",))
    keep &= timeline.lane == timeline.lane[keep][0]
    start_s, end_s = timeline.start_s[keep], timeline.end_s[keep]
    return float((end_s - start_s).sum() / (end_s.max() - start_s.min()))


_CALLS = "fewer calls: larger chunks, a graph, allocations outside of the loop"
_ANOTHER_CHUNK = "more streams, slots or buffers, so that no unit is without a chunk"
_LATER = "wait with events on the device, or for a chunk some turns later, or once at the end"
_UNITS = (
    (HOST_THREADS, ("issue", "launch", "alloc", "host"), "host", _CALLS),
    (COPY_ENGINES, None, "copy engine", "move fewer bytes, or keep them on the device"),
    (STREAMS, ("kernel",), "kernels", "faster kernels, or fewer of them"),
)


def _busiest_unit(timeline: Timeline) -> Bottleneck | None:
    """The unit of a host program that works most of the time, or the waits between units; None for a single kernel."""
    if not any_host(timeline.lanes) or timeline.total_s <= 0:
        return None
    found = []
    for lanes, kinds, name, lever in _UNITS:
        keep = timeline.mask(lanes=lanes, kinds=kinds)
        # Kernels of a device count together, copy engines and threads each on its own.
        owner = _first_of_device(timeline.lanes)[timeline.lane[keep]] if name == "kernels" else timeline.lane[keep]
        busy = union_length(owner, timeline.start_s[keep], timeline.end_s[keep], len(timeline.lanes) + 1)
        number = int(busy.argmax())
        full = _named(name, timeline.lanes[number]) if busy.any() else name
        found.append(Bottleneck(full, float(busy[number]) / timeline.total_s, lever, TIME))
    best = max(found, key=lambda entry: entry.share)
    if best.share >= WORTH_NAMING:
        return _what_the_host_does(timeline, best.share) if best.name == "host" else best
    if timeline.meta.get("waits_in_chunks"):
        return Bottleneck("host synchronizes in every chunk", 1.0 - best.share, _LATER, TIME)
    return Bottleneck("waiting between units", 1.0 - best.share, _ANOTHER_CHUNK, TIME)


def _first_of_device(lanes: Sequence[str]) -> np.ndarray:
    """For each lane the first one of the same device, which stands for it; lanes of one device alone name none."""
    devices = [device_of(lane) for lane in lanes]
    return np.array([devices.index(device) for device in devices], dtype=np.int64)


def _named(unit: str, lane: str) -> str:
    """gpu[1].copy_engine[h2d] reads "copy engine H2D of GPU 1"."""
    engine = f" {last_part(lane).index.upper()}" if unit == "copy engine" else ""
    where = f" of GPU {device}" if (device := device_of(lane)) else ""
    return f"{unit}{engine}{where}"


def _what_the_host_does(timeline: Timeline, share: float) -> Bottleneck:
    """What takes most of the time of the host's threads: calls, copying pageable memory, or work of their own."""
    host = timeline.mask(lanes=HOST_THREADS, kinds=("host",))
    calls = timeline.mask(lanes=HOST_THREADS, kinds=("issue", "launch", "alloc"))
    spent, staged = timeline.end_s - timeline.start_s, timeline.bytes > 0
    in_calls, staging, own = (float(spent[of].sum()) for of in (calls, host & staged, host & ~staged))
    if own > max(in_calls, staging):
        return Bottleneck("the host's own work", share, "less between the calls, or in a thread beside it", TIME)
    if staging > in_calls:
        return Bottleneck("pageable memory", share, "pinned memory: cudaMallocHost, cudaHostRegister", TIME)
    waits = f"; {_LATER}" if timeline.meta.get("waits_in_chunks") else ""
    return Bottleneck("host", share, _CALLS + waits, TIME)
