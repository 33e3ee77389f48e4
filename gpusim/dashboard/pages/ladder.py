"""The ladder of techniques: what each rung adds, which scenario shows it, and what that stands against.

No number is here: all of them come from the predictions and recordings of these scenarios.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpusim.dashboard.page.case import Asked

__all__ = ["REMEDIES", "RUNGS", "Remedy", "Rung"]

_PARAMS = "kernel.params."


@dataclass(frozen=True, slots=True)
class Rung:
    """One technique as the page shows it.

    ``against`` does the same work without it, None on the lowest level. ``tiles``: how many of a CTA are shown, 0 for
    the whole run; ``lanes`` a regular expression, as the search box of the timelines takes it.
    """

    level: int
    title: str
    idea: str
    changed: str
    asked: Asked
    against: Asked | None = None
    tiles: int = 0
    lanes: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do about a bottleneck, with scenarios that show it."""

    bottleneck: str
    remedy: str
    scenarios: tuple[str, ...]


def _with(name: str, **params: str | int) -> Asked:
    return Asked(name, changes=tuple(f"{_PARAMS}{key}={value}" for key, value in params.items()))


_CTA = r"^sm\[0\]\.cta\[0\]\.(worker|producer|consumer|input\[\d\])$"
"""The roles of one CTA and the stages of its ring."""
_ONE_STREAM = _with("stream_pipeline", streams=1)
_ONE_STAGE = _with("stages", stages=1)
_PER_ITEM = _with("persistent", tiles_per_item=1, mode="one_per_item")

RUNGS = (
    Rung(
        0, "Nothing overlaps: host and device",
        "Copy a chunk in, compute on it, copy it out; all in one stream, so that one unit works and two stand still.",
        "", _ONE_STREAM,
    ),
    Rung(
        0, "Nothing overlaps: inside a kernel",
        "All warps load a tile, meet, compute on it, and meet again. A tile costs its load and its computation.",
        "", Asked("nothing_overlaps"), tiles=6, lanes=_CTA,
    ),
    Rung(
        1, "Streams",
        "Chunks go over several streams, so that one is copied in and another one out while a third is computed on.",
        "Three streams instead of one; the same chunks.", Asked("stream_pipeline"), _ONE_STREAM,
    ),
    Rung(
        2, "Warp specialisation",
        "One warp does nothing but ask for bulk copies; the others do nothing but compute, and spend neither "
        "instructions nor registers on loads. With one slot the load and the computation of a CTA still take turns.",
        "A producer warp and a ring of one stage, instead of four warps that load and compute.",
        _ONE_STAGE, _with("nothing_overlaps", ctas_per_sm=2, grid=264, warps=4, batch=4), tiles=6, lanes=_CTA,
    ),
    Rung(
        3, "Double buffering",
        "A second slot: the next tile is on its way while this one is computed on.",
        "Two stages instead of one; the same kernel.",
        _with("stages", stages=2), _ONE_STAGE, tiles=8, lanes=_CTA,
    ),
    Rung(
        4, "Persistent kernel",
        "As many CTAs as fit stay on the SMs and take one item of work after the other, so that the loads of the next "
        "item start before this one is done, and no CTA has to be started for it.",
        "A resident grid that goes over the items, instead of one CTA for each item.",
        _with("persistent", tiles_per_item=1), _PER_ITEM, tiles=8, lanes=_CTA,
    ),
    Rung(
        4, "Clusters and multicast",
        "CTAs of a cluster that need the same tile fetch it once: each loads a part and sends it to the shared memory "
        "of all. It saves traffic of L2, and ties the CTAs to each other's pace.",
        "Copies that reach all four CTAs of a cluster, instead of one copy for each of them.",
        Asked("cluster_multicast"), _with("cluster_multicast", copies="own"), tiles=12, lanes=_CTA,
    ),
    Rung(
        4, "Clusters and distributed shared memory",
        "Each CTA keeps the part that it has fetched, and the others load it from there: a ring takes a fraction of the "
        "shared memory. The network between SMs passes an eighth of what own shared memory does, and becomes the limit.",
        "Parts that the other CTAs load from where they are, instead of copies that reach all of them.",
        _with("cluster_multicast", copies="peers"), Asked("cluster_multicast"), tiles=12, lanes=_CTA,
    ),
)  # fmt: skip

REMEDIES = (
    Remedy("transfers between host and device", "streams, pinned memory, both copy engines",
           ("stream_pipeline", "pageable_copies", "copy_engines")),
    Remedy("latency of HBM to shared memory", "asynchronous copies, a loader warp of their own",
           ("double_buffer", "stages", "register_prefetch")),
    Remedy("contention for buffers in shared memory", "a second and a third slot",
           ("stages", "loader_compute_storer", "own_two_rings")),
    Remedy("the same loads by several CTAs", "larger tiles; clusters, where L2 is what they wait for",
           ("gemm", "cluster_multicast")),
    Remedy("work between two products that nobody multiplies in", "a second warpgroup, which multiplies meanwhile",
           ("attention", "own_ping_pong")),
    Remedy("launch overhead", "persistent kernels, graphs", ("persistent", "cuda_graph")),
    Remedy("global synchronisation", "events instead of syncs, callbacks, streams without the default stream's order",
           ("event_graph", "host_callback_pool", "default_streams")),
    Remedy("allocation inside of the loop", "pools, or memory that is kept", ("allocators", "layer_pipeline")),
    Remedy("tensors on their way to another GPU", "room for two on each, copies in a stream of their own, events",
           ("multi_gpu_pipeline", "own_two_gpus")),
    Remedy("messages behind the last kernel", "parts of them, sent beside the kernels that are left",
           ("gradient_overlap",)),
    Remedy("registers of warps that only load", "give them to the warps that compute", ("register_split", "occupancy")),
    Remedy("more bytes fetched than wanted", "neighbouring lanes side by side, wider vectors, reuse in shared memory",
           ("strided_access", "convolution_halo", "stencil")),
)  # fmt: skip
