"""Which configurations of the host techniques to measure, the same on every run.

``totals(name)`` are timed without tracing, ``traced(name)`` (some of them) once more with it. A technique that is
not listed here has both in a module ``design`` in its folder, without the name.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

from realkernels._harness.design import between, halton


def _own_designs() -> dict[str, ModuleType]:
    """The ``design`` of every folder whose one says which configurations are traced, by technique."""
    root = Path(__file__).resolve().parent.parent
    folders = [path.parent.name for path in sorted(root.glob("*/design.py")) if "\ndef traced(" in path.read_text()]
    return {name: import_module(f"realkernels.{name}.design") for name in folders}


_OWN = _own_designs()
TECHNIQUES = (
    "stream_pipeline", "pageable_copies", "allocators", "default_streams", "event_graph", "host_callback_pool",
    "concurrent_kernels", "copy_engines", "cuda_graph", "two_level", *_OWN,
)  # fmt: skip

KIB, MIB = 1 << 10, 1 << 20
LINK = {"pinned": 55e9, "pageable": 8e9}
"""Bytes per second each way; only to choose kernel times with."""
SPREAD_PINNED, SPREAD_PAGEABLE = 56, 20


def totals(name: str) -> list[Any]:
    """Parameter sets of a technique, without repetitions."""
    if name in _OWN:
        return _OWN[name].totals()
    make = import_module(f"realkernels.{name}").Params
    return list(dict.fromkeys(make(**values) for values in _LISTS[name]()))


def traced(name: str) -> list[Any]:
    """The parameter sets whose timelines are recorded."""
    if name in _OWN:
        return _OWN[name].traced()
    make = import_module(f"realkernels.{name}").Params
    return [make(**values) for values in _TRACED[name]]


def _spread(memory: str, count: int) -> Iterable[dict]:
    largest = 1 << 30 if memory == "pinned" else 1 << 28
    for i in range(1, count + 1):
        a, b, c, d, e, f = (halton(i, base) for base in (2, 3, 5, 7, 11, 13))
        size = round(between(16 * MIB, largest, a) / MIB) * MIB
        copy_s = size / LINK[memory]
        yield {
            "bytes": size,
            "chunks": round(between(1, 256, b)),
            "streams": 1 + int(8 * c),
            "kernel_s": float(f"{copy_s * between(0.1, 4.0, d):.4g}"),
            "memory": memory,
            "order": "depth" if e < 0.6 else "breadth",
            "allocation": "pool" if memory == "pinned" and f > 0.8 else "none",
        }


def _stream_pipeline() -> Iterable[dict]:
    yield from _spread("pinned", SPREAD_PINNED)
    yield from _spread("pageable", SPREAD_PAGEABLE)
    # Two whole maps of chunks and streams, for the question which is best.
    for size, kernel_s in ((256 * MIB, 4.8e-3), (32 * MIB, 0.3e-3)):
        for chunks, streams in product((1, 2, 4, 8, 16, 32, 64, 128, 256), (1, 2, 3, 4, 8)):
            if streams <= chunks:
                yield {"bytes": size, "chunks": chunks, "streams": streams, "kernel_s": kernel_s}
    for chunks, streams in ((8, 4), (16, 2), (64, 4)):
        yield {"bytes": 64 * MIB, "chunks": chunks, "streams": streams, "kernel_s": 4e-3, "footprint": "small"}


def _pageable_copies() -> Iterable[dict]:
    for memory, streams in product(("pageable", "pinned"), (1, 2, 4)):
        for size, chunks in ((64 * MIB, 8), (8 * MIB, 32)):
            yield {"memory": memory, "streams": streams, "bytes": size, "chunks": chunks, "kernel_s": size / 16e9}
    for directions, calls in product(("h2d", "d2h"), ("async", "sync")):
        yield {"directions": directions, "calls": calls}
    yield {"calls": "sync"}
    yield {"calls": "sync", "memory": "pinned"}
    yield {"bytes": 1 * MIB, "chunks": 32, "kernel_s": 320e-6}


def _allocators() -> Iterable[dict]:
    modes = ("preallocated", "cuda_malloc", "pool_release", "pool_keep", "caching")
    for mode, sizes in product(modes, ("constant", "variable", "growing")):
        yield {"mode": mode, "sizes": sizes}
    for mode in ("cuda_malloc", "pool_release", "pool_keep", "caching"):
        yield {"mode": mode, "sync_every": 1}
        yield {"mode": mode, "sync_every": 4, "streams": 4, "bytes": 4 * MIB, "kernel_s": 80e-6}
        yield {"mode": mode, "bytes": 1 * MIB, "kernel_s": 20e-6, "batches": 32}


def _default_streams() -> Iterable[dict]:
    kinds = ("blocking", "non_blocking", "per_thread")
    for workers, stray in product(kinds, ("none", "legacy", *kinds)):
        yield {"workers": workers, "stray": stray}
    yield {"workers": "legacy", "stray": "none"}
    yield {"workers": "legacy", "stray": "non_blocking"}
    yield {"workers": "blocking", "stray": "legacy", "stray_every": 4}
    yield {"workers": "blocking", "stray": "legacy", "kernel_s": 20e-6, "tasks": 16}


def _event_graph() -> Iterable[dict]:
    for ordering in ("event", "event_sync", "stream_sync", "device_sync"):
        yield {"ordering": ordering}
        yield {"ordering": ordering, "c_s": 1e-3}
        yield {
            "ordering": ordering,
            "a_s": 10e-6,
            "b_s": 10e-6,
            "c_s": 10e-6,
            "d_s": 10e-6,
            "bytes": 64 * KIB,
            "rounds": 20,
        }
        yield {"ordering": ordering, "bytes": 16 * MIB, "b_s": 400e-6}


def _host_callback_pool() -> Iterable[dict]:
    for slots in (1, 2, 3, 4, 8, 32):
        yield {"slots": slots}
    for slots in (1, 3, 8):
        yield {"slots": slots, "recycle": "after_kernel"}
        yield {"slots": slots, "fill_s": 200e-6}
        yield {"slots": slots, "kernel_s": 300e-6, "callback_s": 20e-6}
        yield {"slots": slots, "bytes": 64 * KIB, "fill_s": 5e-6, "kernel_s": 5e-6, "batches": 100}
    yield {"slots": 4, "batches": 300}
    yield {"slots": 4, "streams": 1}
    yield {"slots": 32, "streams": 4}


def _concurrent_kernels() -> Iterable[dict]:
    for kernels in (1, 2, 4, 8, 16, 32):
        yield {"kernels": kernels, "streams": kernels}
    # 8 warps with 32 KiB and 64 KiB of registers fit beside each other; 48 warps or 200 KiB do not.
    yield {"kernels": 4, "streams": 4, "shared_bytes": 32 * KIB, "registers": 64}
    yield {"kernels": 4, "streams": 4, "threads": 768}
    yield {"kernels": 4, "streams": 4, "threads": 1024}
    yield {"kernels": 4, "streams": 4, "shared_bytes": 200 * KIB}
    yield {"kernels": 4, "streams": 4, "registers": 128}
    yield {"kernels": 6, "streams": 6, "shared_bytes": 100 * KIB}
    yield {"kernels": 3, "streams": 3, "blocks": 1000, "threads": 1024}
    for kernels in (126, 128, 129, 160):
        yield {"kernels": kernels, "streams": kernels, "blocks": 1, "block_s": 2e-3}
    for urgent in ("equal", "high"):
        yield {"kernels": 1, "streams": 1, "blocks": 1056, "threads": 1024, "block_s": 200e-6, "urgent": urgent}
        yield {"kernels": 2, "streams": 2, "blocks": 528, "threads": 1024, "block_s": 100e-6, "urgent": urgent}
    yield {"kernels": 64, "streams": 4, "blocks": 8, "block_s": 20e-6}
    yield {"kernels": 64, "streams": 16, "blocks": 8, "block_s": 20e-6}


def _copy_engines() -> Iterable[dict]:
    size = 64 * MIB
    for h2d, d2h, d2d, kernel in product((0, size), (0, size), (0, 8 * size), (0.0, 2e-3)):
        if h2d or d2h or d2d:
            yield {"h2d_bytes": h2d, "d2h_bytes": d2h, "d2d_bytes": d2d, "kernel_s": kernel}
    yield {"issue": "alternate", "copies": 16}
    yield {"streams_per_direction": 4, "copies": 16}
    yield {"copies": 256, "streams_per_direction": 2, "issue": "alternate"}
    yield {"h2d_bytes": 128 * MIB, "d2h_bytes": 16 * MIB}


def _cuda_graph() -> Iterable[dict]:
    for mode, nodes in product(("stream", "graph"), (1, 5, 20, 100)):
        yield {"mode": mode, "nodes": nodes}
    for mode in ("stream", "graph"):
        yield {"mode": mode, "kernel_s": 0.0}
        yield {"mode": mode, "kernel_s": 50e-6}
        yield {"mode": mode, "branches": 4, "kernel_s": 10e-6}
        yield {"mode": mode, "bytes": 256 * KIB, "nodes": 5}
        yield {"mode": mode, "nodes": 400, "replays": 2}


def _two_level() -> Iterable[dict]:
    for streams, stages in product((1, 2, 3, 4), (1, 3)):
        yield {"streams": streams, "stages": stages}
    for fma in (64, 2048, 4096):
        yield {"fma_per_element": fma, "streams": 3}
        yield {"fma_per_element": fma, "streams": 1}
    yield {"copy_back": 0.0, "streams": 2}
    yield {"tiles_per_cta": 32, "batches": 4, "streams": 2}
    yield {"tiles_per_cta": 2, "batches": 32, "streams": 4}


_LISTS = {
    "stream_pipeline": _stream_pipeline, "pageable_copies": _pageable_copies, "allocators": _allocators,
    "default_streams": _default_streams, "event_graph": _event_graph, "host_callback_pool": _host_callback_pool,
    "concurrent_kernels": _concurrent_kernels, "copy_engines": _copy_engines, "cuda_graph": _cuda_graph,
    "two_level": _two_level,
}  # fmt: skip

_TRACED: dict[str, tuple[dict, ...]] = {
    "stream_pipeline": (
        {"bytes": 256 * MIB, "chunks": 1, "streams": 1, "kernel_s": 4.8e-3},
        {"bytes": 256 * MIB, "chunks": 16, "streams": 1, "kernel_s": 4.8e-3},
        {"bytes": 256 * MIB, "chunks": 16, "streams": 2, "kernel_s": 4.8e-3},
        {"bytes": 256 * MIB, "chunks": 16, "streams": 4, "kernel_s": 4.8e-3},
        {"bytes": 256 * MIB, "chunks": 256, "streams": 4, "kernel_s": 4.8e-3},
        {"bytes": 32 * MIB, "chunks": 64, "streams": 4, "kernel_s": 0.3e-3},
    ),
    "pageable_copies": (
        {"memory": "pageable", "streams": 2, "bytes": 64 * MIB, "chunks": 8, "kernel_s": 64 * MIB / 16e9},
        {"memory": "pinned", "streams": 2, "bytes": 64 * MIB, "chunks": 8, "kernel_s": 64 * MIB / 16e9},
        {"directions": "h2d"},
    ),
    "allocators": ({"mode": "cuda_malloc"}, {"mode": "pool_keep"}, {"mode": "pool_release", "sync_every": 1},
                   {"mode": "caching", "sizes": "growing"}),
    "default_streams": ({"workers": "blocking", "stray": "legacy"}, {"workers": "non_blocking", "stray": "legacy"},
                        {"workers": "blocking", "stray": "none"}),
    "event_graph": ({"ordering": "event"}, {"ordering": "stream_sync"}, {"ordering": "device_sync"}),
    "host_callback_pool": ({"slots": 1}, {"slots": 3}, {"slots": 3, "recycle": "after_kernel"}),
    "concurrent_kernels": (
        {"kernels": 8, "streams": 8}, {"kernels": 4, "streams": 4, "shared_bytes": 200 * KIB},
        {"kernels": 129, "streams": 129, "blocks": 1, "block_s": 2e-3},
        {"kernels": 1, "streams": 1, "blocks": 1056, "threads": 1024, "block_s": 200e-6, "urgent": "high"},
    ),
    "copy_engines": (
        {"h2d_bytes": 64 * MIB, "d2h_bytes": 64 * MIB, "d2d_bytes": 0, "kernel_s": 2e-3},
        {"h2d_bytes": 64 * MIB, "d2h_bytes": 64 * MIB, "d2d_bytes": 512 * MIB, "kernel_s": 2e-3},
        {"issue": "alternate", "copies": 16},
    ),
    "cuda_graph": ({"mode": "stream"}, {"mode": "graph"}, {"mode": "graph", "branches": 4, "kernel_s": 10e-6}),
    "two_level": ({"streams": 3, "stages": 3}, {"streams": 1, "stages": 1}),
}  # fmt: skip
