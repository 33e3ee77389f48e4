"""What one SM gets out of L2 if copies and loads do not start on a line of 128 bytes or a sector of 32."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import KIB, L2_RANGE, Context, i32, per_cta, spec, u32, u64

SOURCES = ("tma.cu", "cpasync.cu", "ldg.cu")
NOTES = {
    "unit": "tma: bulk copies; cp_async: 16 bytes per lane; ldg: loads into registers, 16 bytes per lane",
    "bytes": "of a copy, a group of cp.async, or a batch of loads of all warps",
    "offset": "of the first from a 4 KiB boundary; all sizes are multiples of 128 bytes",
    "in_flight": "copies, groups, or loads of a thread under way",
    "bytes_per_cycle_per_sm": "of one SM, the others idle; everything is in L2",
}
OFFSETS = (0, 16, 32, 48, 64, 96, 112)
TURNS = 1024
UNROLL = 8
COPIES = ((4 * KIB, 8), (16 * KIB, 1), (16 * KIB, 4), (32 * KIB, 1), (64 * KIB, 1), (64 * KIB, 3))
"""(bytes, in flight)."""


def specs() -> list:
    return [
        spec("tma.cu", "tma_ring"),
        spec("cpasync.cu", "cpasync_ring", SIZE=16, IN_FLIGHT=4),
        spec("ldg.cu", "ldg", **_loads()),
    ]


def _loads() -> dict[str, int]:
    return {"WIDTH": 16, "UNROLL": UNROLL, "STORE": 0, "MAX_THREADS": 1024}


def run(context: Context) -> Iterator[dict]:
    for offset in OFFSETS:
        source = context.source.ravel()[offset // 4 :]

        def measure(unit, kernel, warps, size, in_flight, args, shared, offset=offset, source=source) -> dict:
            stamps = context.warm(kernel, 1, 32 * warps, (source, *args), 2, shared)
            found = per_cta(stamps, 1, TURNS * size, 1, context.clock_hz)
            return {"unit": unit, "bytes": size, "offset": offset, "in_flight": in_flight, "warps": warps, **found}

        kernel = context.kernel("tma.cu", "tma_ring")
        for size, in_flight in COPIES:
            args = (u32(size), i32(in_flight), i32(TURNS), u64(L2_RANGE))
            yield measure("tma", kernel, 1, size, in_flight, args, size * in_flight)
        kernel = context.kernel("cpasync.cu", "cpasync_ring", SIZE=16, IN_FLIGHT=4)
        for warps in (4, 8, 16):
            for size in (8 * KIB, 32 * KIB):
                args = (i32(size // (512 * warps)), i32(TURNS), u64(L2_RANGE))
                yield measure("cp_async", kernel, warps, size, 4, args, 4 * size)
        kernel = context.kernel("ldg.cu", "ldg", **_loads())
        for warps in (8, 16, 32):
            chunk = 512 * UNROLL
            # The wrap is shifted: an SM must not meet its own lines again in its L1.
            args = (u64(chunk), u64((warps + 17) * chunk), u64(L2_RANGE), i32(TURNS))
            yield measure("ldg", kernel, warps, warps * chunk, UNROLL, args, 0)
