"""Loads into registers: time per batch and throughput against loads in flight per thread."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import (
    GIB,
    L2_RANGE,
    MEMORY_RANGE,
    Context,
    clamp,
    i32,
    per_cta,
    spec,
    u64,
)

SOURCES = ("ldg.cu",)
NOTES = {
    "lane_bytes": "per thread and load",
    "unroll": "independent loads in flight per thread",
    "store_shared": "the batch is stored to shared memory (st.shared.v4), else folded in registers",
    "layout": "dealt: batches go round the warps, as in a persistent kernel; private: each warp has its own range",
    "cycles_per_batch": "SM cycles of one CTA per turn of `unroll` loads per thread",
    "warps_per_sm": "one SM: one CTA; all SMs: CTAs of at most 16 warps",
}
WARPS_PER_SM = (1, 2, 4, 8, 16, 32, 64)
WARPS_PER_CTA = 16


def variants() -> list[tuple[int, int, int, int]]:
    """(lane bytes, unroll, store, most threads of a CTA)."""
    found = [(width, unroll, 0, 512) for width in (4, 8, 16) for unroll in (1, 2, 4, 8, 16)]
    found += [(16, unroll, 1, 512) for unroll in (1, 2, 4, 8, 16)]
    # One SM can hold more than 16 warps only as one larger CTA, which leaves fewer registers.
    return found + [(w, u, store, 1024) for w, u, store, _ in found if w * u <= 128]


def specs() -> list:
    return [spec("ldg.cu", "ldg", **_defines(*variant)) for variant in variants()]


def run(context: Context) -> Iterator[dict]:
    for width, unroll, store, most in variants():
        kernel = context.kernel("ldg.cu", "ldg", **_defines(width, unroll, store, most))
        for sms in (1, context.sms):
            for warps in WARPS_PER_SM:
                shape = _shape(warps, sms, most)
                if shape is None:
                    continue
                ctas, warps_per_cta = shape
                chunk = 32 * width * unroll
                shared = warps_per_cta * chunk if store else 0
                if kernel.max_active_ctas(32 * warps_per_cta, shared) < ctas:
                    continue
                for source, layout in (("dram", "dealt"), ("dram", "private"), ("l2", "dealt")):
                    yield _measure(context, kernel, (width, unroll, store), sms, shape, (source, layout), shared)


def _measure(context, kernel, kind, sms, shape, place, shared) -> dict:
    (width, unroll, store), (ctas, warps_per_cta), (source, layout) = kind, shape, place
    chunk, grid = 32 * width * unroll, sms * ctas
    total_warps = grid * warps_per_cta
    turns = clamp(GIB // (total_warps * chunk), 16, 512)
    if layout == "private":
        stride, step = turns * chunk, chunk
    else:
        # In L2 the wrap is shifted: an SM must not meet its own lines again in its L1.
        stride, step = chunk, total_warps * chunk + (17 * chunk if source == "l2" else 0)
    span = L2_RANGE if source == "l2" else MEMORY_RANGE
    args = (context.source, u64(stride), u64(step), u64(span), i32(turns))
    launch = context.warm if source == "l2" else context.cold
    found = per_cta(
        launch(kernel, grid, 32 * warps_per_cta, args, 2 * grid, shared),
        grid,
        turns * warps_per_cta * chunk,
        ctas,
        context.clock_hz,
    )
    return {
        "lane_bytes": width,
        "unroll": unroll,
        "store_shared": bool(store),
        "warps_per_sm": ctas * warps_per_cta,
        "sms": sms,
        "source": source,
        "layout": layout,
        "turns": turns,
        "registers": kernel.registers,
        "cycles_per_batch": found["cycles_median"] / turns,
        **found,
    }


def _shape(warps: int, sms: int, most: int) -> tuple[int, int] | None:
    """(CTAs per SM, warps per CTA); None where this variant has nothing to add."""
    if most == 1024:
        return (1, warps) if sms == 1 and warps == 32 else None
    if warps <= WARPS_PER_CTA:
        return 1, warps
    return (warps // WARPS_PER_CTA, WARPS_PER_CTA) if sms > 1 else None


def _defines(width: int, unroll: int, store: int, most: int) -> dict[str, int]:
    return {"WIDTH": width, "UNROLL": unroll, "STORE": store, "MAX_THREADS": most}
