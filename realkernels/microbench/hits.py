"""What random reads by all SMs find in L2, by the counters of the device: needs Nsight Compute (``ncu``).

The launches are those of ``python -m realkernels.microbench.hits``, which `run` starts below the profiler.
"""

from __future__ import annotations

from collections.abc import Iterator

from realkernels.microbench.bench import MIB, Context, i32, spec, u64
from realkernels.microbench.counters import counted

SOURCES = ("hits.cu",)
NOTES = {
    "footprint_bytes": "bytes of the array; L2 is empty at the start",
    "piece_bytes": "read at one place: 16 bytes of one lane, or a line",
    "reads": "places read by all SMs together",
    "dram_bytes": "read from DRAM (dram__bytes_read.sum)",
}
FOOTPRINTS = tuple(size * MIB for size in (16, 32, 36, 40, 48, 64, 96, 128, 256))
LANES = (1, 8)
TURNS = (64, 128)
CTAS_PER_SM, BLOCK = 4, 512
METRIC = "dram__bytes_read.sum"


def specs() -> list:
    return [spec("hits.cu", "random_reads", LANES=lanes) for lanes in LANES]


def points() -> list[tuple[int, int, int]]:
    """(lanes, footprint, turns) of each launch, in order."""
    return [(lanes, footprint, turns) for lanes in LANES for footprint in FOOTPRINTS for turns in TURNS]


def run(context: Context) -> Iterator[dict]:
    found = counted("hits", "random_reads", [METRIC], flush=True)
    for (lanes, footprint, turns), counts in zip(points(), found, strict=True):
        reads = context.sms * CTAS_PER_SM * BLOCK // lanes * turns
        yield {"footprint_bytes": footprint, "piece_bytes": 16 * lanes, "reads": reads, "dram_bytes": counts[METRIC]}


def launches(context: Context) -> None:
    """Every launch once."""
    for lanes, footprint, turns in points():
        kernel = context.kernel("hits.cu", "random_reads", LANES=lanes)
        args = (context.target, context.source, u64(footprint // (16 * lanes)), i32(turns))
        kernel.launch(context.sms * CTAS_PER_SM, BLOCK, args)


if __name__ == "__main__":
    launches(Context())
