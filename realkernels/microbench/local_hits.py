"""What of local memory L1 holds, by the counters of the device: needs Nsight Compute (``ncu``).

The launches are those of ``python -m realkernels.microbench.local_hits``, which `run` starts below the profiler.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from realkernels._harness.compile import CompiledKernel
from realkernels.microbench.bench import KIB, Context, f32, i32, spec
from realkernels.microbench.counters import counted

SOURCES = ("local.cu",)
NOTES = {
    "op": "of each turn: both: all values loaded, then all stored; apart: each loaded and stored before the next one; "
    "spilled: what the compiler makes of so many sums where there are 64 registers",
    "values": "of 4 bytes per thread, or sums",
    "warps": "of the one CTA on each SM",
    "shared_kib": "shared memory of the CTA, which L1 has less",
    "carve_out_kib": "shared memory that the driver takes from L1 for it",
    "local_bytes": "of a thread",
    "load_sectors": "32 bytes each, all SMs",
    "hit_sectors": "of these found in L1",
    "cycles": "of the launch",
}
APART = {"both": 0, "apart": 1}
VALUES, SUMS = (16, 32, 48, 64), (64, 72, 80, 96, 128)
WARPS, SHARED_KIB = (4, 8, 16), (0, 132, 224)
TURNS = 100
METRICS = (
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum",
    "sm__cycles_elapsed.max",
    "launch__shared_mem_config_size",
)


def kernels(context: Context) -> Iterator[tuple[str, int, CompiledKernel, tuple]]:
    """Op, values, kernel and what it is launched with."""
    for op, apart in APART.items():
        for values in VALUES:
            kernel = context.kernel("local.cu", "local_turns", OP=3, VALUES=values, APART=apart)
            yield op, values, kernel, (i32(TURNS), np.int64(0), i32(0))
    for sums in SUMS:
        yield "spilled", sums, context.kernel("local.cu", "spilled_turns", SUMS=sums), (i32(TURNS), f32(1.0))


def specs() -> list:
    both = [
        spec("local.cu", "local_turns", OP=3, VALUES=values, APART=apart)
        for apart in APART.values()
        for values in VALUES
    ]
    return both + [spec("local.cu", "spilled_turns", SUMS=sums) for sums in SUMS]


def run(context: Context) -> Iterator[dict]:
    found = [
        counts
        for kernel in ("local_turns", "spilled_turns")
        for counts in counted("local_hits", kernel, METRICS, flush=False)
    ]
    for (op, values, kernel, warps, shared_kib), counts in zip(_launched(context), found, strict=True):
        yield {
            "op": op,
            "values": values,
            "warps": warps,
            "shared_kib": shared_kib,
            "carve_out_kib": counts[METRICS[3]] / KIB,
            "local_bytes": kernel.local_bytes,
            "load_sectors": counts[METRICS[0]],
            "hit_sectors": counts[METRICS[1]],
            "cycles": counts[METRICS[2]],
        }


def _launched(context: Context) -> Iterator[tuple[str, int, CompiledKernel, int, int]]:
    for op, values, kernel, _ in kernels(context):
        for warps in WARPS:
            for shared_kib in SHARED_KIB:
                yield op, values, kernel, warps, shared_kib


def launches(context: Context) -> None:
    """Every launch once."""
    arguments = {id(kernel): args for _, _, kernel, args in kernels(context)}
    for _, _, kernel, warps, shared_kib in _launched(context):
        out = context.target[: 2 * context.sms].view(np.int64)
        kernel.launch(context.sms, 32 * warps, (out, *arguments[id(kernel)]), shared_kib * KIB)


if __name__ == "__main__":
    launches(Context())
