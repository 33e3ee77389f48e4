"""Shared memory while other warps load as much as has room, and more: its latency, and arithmetic on what is there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels._harness.compile import KernelSpec
from realkernels.microbench.bench import KIB, L2_RANGE, MEMORY_RANGE, Context, f32, i32, spec, u64

SOURCES = ("behind_loads.cu",)
NOTES = {
    "part": "chain (of accesses to shared memory, beside warps that load without a pause) or burst (arithmetic beside "
    "warps that load once)",
    "op": "what the chain consists of: lds or shfl; what the arithmetic is on: lds, or none (what is in registers)",
    "kind": "what the others do: ldg (ld.global into registers) or cp_async",
    "source": "where they load from: 16 MiB of L2, or DRAM",
    "shared": "bytes of shared memory of the CTA, which is alone on its SM; the rest of 256 KiB is L1",
    "count": "loads of 16 bytes that each of their threads has under way",
    "loaders": "warps of the SM that load",
    "computers": "warps that compute, each on 8 float4 a lane, 16 FFMA for each float",
    "apart": "1: none of those that load is on the scheduler of the chain",
    "sms": "that do so",
    "cycles": "SM cycles of one step of the chain; until the last warp has computed; median over SMs",
    "loaded_bytes_per_cycle": "of one SM meanwhile",
    "issued_cycles": "until the last warp has issued its loads",
    "loaded_cycles": "until all have what they loaded",
}
COUNTS, COPIES = (2, 8), (8, 16)
LOADERS = (0, 2, 4, 6, 8, 12, 16, 24, 31)
STEPS, LEAD = 400, 20_000
SHARED = 200 * KIB
BURSTS = (1, 2, 3, 4, 6, 8)
LITTLE_SHARED = 40 * KIB
VECTORS, TURNS = 8, 12


def specs() -> list:
    return [
        *(_chain(op, kind, count) for op in ("lds", "shfl") for kind, count in _kinds()),
        *(spec("behind_loads.cu", "beside_loads", COUNT=count, SHARED=shared) for count in BURSTS for shared in (0, 1)),
    ]


def run(context: Context) -> Iterator[dict]:
    yield from _chains(context)
    yield from _bursts(context)


def _kinds() -> Iterator[tuple[str, int]]:
    yield from (("ldg", count) for count in COUNTS)
    yield from (("cp_async", count) for count in COPIES)


def _chain(op: str, kind: str, count: int) -> KernelSpec:
    return spec("behind_loads.cu", "behind_loads", COUNT=count, SHUFFLE=int(op == "shfl"), REGISTERS=int(kind == "ldg"))


def _sources(context: Context) -> Iterator[tuple[str, int, int]]:
    yield "l2", 1, L2_RANGE
    yield "l2", context.sms, L2_RANGE
    yield "dram", context.sms, MEMORY_RANGE


def _chains(context: Context) -> Iterator[dict]:
    for op in ("lds", "shfl"):
        for kind, count in _kinds():
            kernel = context.kernel("behind_loads.cu", "behind_loads", **_chain(op, kind, count).defines)
            for source, sms, span in _sources(context):
                for apart, loaders in ((apart, loaders) for apart in (0, 1) for loaders in LOADERS):
                    if apart and loaders > 24:  # the other schedulers have no more
                        continue
                    args = (context.source, u64(span - 1), i32(STEPS), i32(loaders), i32(apart), np.int64(LEAD))
                    stamps = context.warm(kernel, sms, 1024, args, 3 * sms, SHARED).reshape(sms, 3)
                    chain, loaded, took = stamps.T.astype(float)
                    yield {
                        "part": "chain",
                        "op": op,
                        "kind": kind,
                        "source": source,
                        "shared": SHARED,
                        "count": count,
                        "loaders": loaders,
                        "apart": apart,
                        "sms": sms,
                        "cycles": float(np.median(chain)) / STEPS,
                        "loaded_bytes_per_cycle": float(np.median(loaded / np.maximum(took, 1.0))),
                    }


def _bursts(context: Context) -> Iterator[dict]:
    for shared_op, shared, sms in (
        (op, shared, sms) for op in (1, 0) for shared in (SHARED, LITTLE_SHARED) for sms in (1, context.sms)
    ):
        for loaders, computers in ((8, 8), (16, 8), (16, 4)):
            warps = loaders + computers
            for count in BURSTS:
                kernel = context.kernel("behind_loads.cu", "beside_loads", COUNT=count, SHARED=shared_op)
                args = (
                    context.source,
                    u64(MEMORY_RANGE - 1),
                    i32(TURNS),
                    i32(VECTORS),
                    i32(loaders),
                    f32(0.5),
                    f32(0.25),
                )
                stamps = context.cold(kernel, sms, 32 * warps, args, 2 * sms * warps, shared).reshape(sms, warps, 2)
                issued, loaded = np.median(stamps[:, :loaders].max(axis=1), axis=0)
                yield {
                    "part": "burst",
                    "op": "lds" if shared_op else "none",
                    "kind": "ldg",
                    "source": "dram",
                    "shared": shared,
                    "count": count,
                    "loaders": loaders,
                    "computers": computers,
                    "sms": sms,
                    "cycles": float(np.median(stamps[:, loaders:, 1].max(axis=1))),
                    "issued_cycles": float(issued),
                    "loaded_cycles": float(loaded),
                }
