"""Shared-memory latency, throughput and store-to-load round trip, on one SM."""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import Context, i32, settled, spec

SOURCES = ("lds.cu",)
NOTES = {
    "kind": "latency (pointer chase), load or store (throughput), round_trip (store then load, same address), "
    "sharing (throughput of loads of which several lanes want the same words), load_batch and store_batch (one warp)",
    "batch": "accesses of a turn, after which the last one is waited for",
    "sharing": "lanes that load the same words: pairs of neighbours, halves (each with the one half a warp away), all",
    "bits": "width of one lane's access",
    "cycles": "SM cycles per access: of one warp for latency and round_trip, per warp instruction of the SM else",
    "bytes_per_cycle": "of the whole SM",
}
STEPS = 1024
UNROLLED = 8
REPEATS = 6
ARENA_BYTES_PER_WORD = UNROLLED * 256 * 4
BATCHES = (8, 16, 24)
SHARING = {"pairs": 1, "halves": 2, "all": 3}


def specs() -> list:
    shared = [spec("lds.cu", "load_rate", WORDS=w, SHARING=s) for w in (1, 2, 4) for s in SHARING.values()]
    batches = [
        spec("lds.cu", "load_rate", WORDS=words, BATCH=batch, QUIET=1) for words in (1, 2, 4) for batch in BATCHES
    ]
    return [spec("lds.cu", "chase", WORDS=words) for words in (1, 2, 4)] + shared + batches


def run(context: Context) -> Iterator[dict]:
    for words in (1, 2, 4):
        for kind, name in (("latency", "chase"), ("round_trip", "round_trip")):
            kernel = context.kernel("lds.cu", name, WORDS=words)
            arena = 2 * 32 * words * 4
            found = settled(context.stamps(kernel, 1, 32, (i32(STEPS), i32(REPEATS)), REPEATS, arena))
            yield {"kind": kind, "bits": 32 * words, "warps": 1, "cycles": found["cycles_min"] / STEPS}
        for kind, name in (("load", "load_rate"), ("store", "store_rate")):
            kernel = context.kernel("lds.cu", name, WORDS=words)
            for warps in (1, 2, 4, 8, 16, 32):
                turns = 256
                args = (i32(turns), i32(REPEATS))
                found = settled(context.stamps(kernel, 1, 32 * warps, args, REPEATS, ARENA_BYTES_PER_WORD * words))
                accesses = turns * UNROLLED * warps
                cycles = found["cycles_min"] / accesses
                yield {
                    "kind": kind,
                    "bits": 32 * words,
                    "warps": warps,
                    "cycles": cycles,
                    "bytes_per_cycle": 32 * 4 * words / cycles,
                }
        for batch in BATCHES:
            for kind, name in (("load_batch", "load_rate"), ("store_batch", "store_rate")):
                kernel, turns = context.kernel("lds.cu", name, WORDS=words, BATCH=batch, QUIET=1), 256
                found = settled(
                    context.stamps(kernel, 1, 32, (i32(turns), i32(REPEATS)), REPEATS, ARENA_BYTES_PER_WORD * words)
                )
                yield {
                    "kind": kind,
                    "bits": 32 * words,
                    "warps": 1,
                    "batch": batch,
                    "cycles": found["cycles_min"] / turns / batch,
                }
        for sharing, number in SHARING.items():
            kernel, turns, warps = context.kernel("lds.cu", "load_rate", WORDS=words, SHARING=number), 256, 32
            args = (i32(turns), i32(REPEATS))
            found = settled(context.stamps(kernel, 1, 32 * warps, args, REPEATS, ARENA_BYTES_PER_WORD * words))
            cycles = found["cycles_min"] / (turns * UNROLLED * warps)
            yield {"kind": "sharing", "bits": 32 * words, "warps": warps, "sharing": sharing, "cycles": cycles}
