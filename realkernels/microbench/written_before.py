"""A kernel that reads behind one that wrote, or behind a memset: what it takes longer for what L2 has to write back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from realkernels._harness.timing import time_launch
from realkernels.microbench.bench import MIB, Context, spec, u64

SOURCES = ("written_before.cu",)
NOTES = {
    "before": "what wrote: a kernel or cudaMemsetAsync",
    "written_bytes": "by it, to another array",
    "read_bytes": "by the kernel behind it",
    "before_s": "of one of many in a row that write",
    "read_s": "of one of many in a row that read",
    "both_s": "of one and one of many in turn",
}
WRITTEN = (8 * MIB, 16 * MIB, 64 * MIB, 256 * MIB)
READ = (64 * MIB, 128 * MIB, 512 * MIB)
IN_A_ROW = 20
CTAS_PER_SM, THREADS, VECTOR_BYTES = 8, 256, 16
HEAD_START_S = 2e-3


def specs() -> list:
    return [spec("written_before.cu", name) for name in ("read", "write")]


def run(context: Context) -> Iterator[dict]:
    import cupy

    read, write = (context.kernel("written_before.cu", name) for name in ("read", "write"))
    source, target, grid = context.source, context.target, CTAS_PER_SM * context.sms
    stream = cupy.cuda.get_current_stream()

    def reads(size: int) -> Callable[[], None]:
        return lambda: read.launch(grid, THREADS, (source, u64(size // VECTOR_BYTES), target))

    def writes(before: str, size: int) -> Callable[[], None]:
        if before == "memset":
            return lambda: cupy.cuda.runtime.memsetAsync(target.data.ptr, 0, size, stream.ptr)
        return lambda: write.launch(grid, THREADS, (target, u64(size // VECTOR_BYTES)))

    alone = {size: _each_s(reads(size)) for size in READ}
    for before in ("kernel", "memset"):
        for written in WRITTEN:
            writing = writes(before, written)
            before_s = _each_s(writing)
            for size in READ:
                yield {
                    "before": before,
                    "written_bytes": written,
                    "read_bytes": size,
                    "before_s": before_s,
                    "read_s": alone[size],
                    "both_s": _each_s(writing, reads(size)),
                }


def _each_s(*launches: Callable[[], None]) -> float:
    """Seconds of one of many turns of ``launches``."""

    def queue() -> None:
        for _ in range(IN_A_ROW):
            for launch in launches:
                launch()

    return time_launch(queue, repeats=7, warmup=1, head_start_s=HEAD_START_S).median_s / IN_A_ROW
