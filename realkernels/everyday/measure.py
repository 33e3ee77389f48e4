"""Times the kernels on the attached GPU: ``python -m realkernels.everyday.measure --out DIR``.

Writes a file for each source, ``DIR/totals.json`` and others: median and quartile distance of
event-to-event times in seconds, L2 emptied (of clean data) before each launch, as for the techniques.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gpusim.validation.recording import source_hash
from realkernels._harness import device
from realkernels._harness.compile import compile_kernel
from realkernels._harness.timing import Times, make_flush, time_launch
from realkernels._parts.hopper import SMS
from realkernels.everyday import CASES, TOTALS, Case

FLOATS, SECOND = 1 << 28, 1 << 25
"""Floats of each array, and where a second operand begins within the first."""
KIB = 1 << 10
PADDING = {
    "exponentials": {1: 120, 2: 100, 4: 54, 6: 36},
    "polynomial": {1: 120, 2: 100, 4: 54},
    "in_place": {1: 120, 2: 100, 4: 54, 6: 36},
}
"""KiB of dynamic shared memory that let so many CTAs onto an SM."""
ALONE = 130 * KIB
"""Of a CTA that has its SM for itself."""
REPEATS = 9


def launches(cases: list[Case]) -> Iterator[tuple[Case, tuple, tuple, tuple, int]]:
    """(case, grid, block, arguments, shared bytes) of each case; allocates two arrays."""
    import cupy

    x = cupy.random.default_rng(1).random(FLOATS, dtype=cupy.float32)
    y, second = cupy.zeros(FLOATS, dtype=cupy.float32), x[SECOND:]
    i32 = np.int32
    keys = cupy.random.default_rng(2).integers(0, 1 << 32, FLOATS // 2, dtype=cupy.uint32)
    of_2048, of_1024 = ((keys[: FLOATS // 8] % count).astype(cupy.int32) for count in (2048, 1024))
    points = SMS * 4 * 256 * 48
    shapes = {
        "matmul_32x32": ((64, 64), (32, 32), (x, second, y, i32(2048)), 0),
        "matmul_16x16": ((128, 128), (16, 16), (x, second, y, i32(2048)), 0),
        "sgemm_64x64": ((32, 32), (256,), (x, second, y, i32(2048)), 0),
        "sgemm_128x128": ((32, 32), (256,), (x, second, y, i32(4096)), 0),
        "nbody": ((512,), (256,), (x, y, i32(131072)), 0),
        "triad": ((65536,), (256,), (x, x[1 << 26 :], y, np.float32(2)), 0),
        "dot": ((528,), (256,), (x, x[1 << 27 :], y, i32(121)), 0),
        "layer_norm": ((65536,), (256,), (x, y, np.float32(1e-5)), 0),
        "transpose": ((256, 256), (32, 8), (x, y, i32(8192)), 0),
        "stencil_17": ((262144,), (256,), (x, y), 0),
        "gemv": ((792,), (256,), (x, second, y, i32(31680)), 32 * KIB),
        "histogram": ((1056,), (256,), (x, y, i32(16)), 0),
        "split_k": ((2048,), (256,), (x, y, i32(64)), 0),
        "byte_histogram": ((1056,), (256,), (keys, i32(FLOATS // 16), y), 0),
        "weighted_histogram": ((528,), (512,), (of_2048, x, i32(528 * 512 * 64), i32(2048), y), 8 * KIB),
        "digit_counts": ((264,), (256,), (keys, i32(16896), i32(8), y), 0),
        "cluster_sums": ((528,), (256,), (x, of_1024, i32(points), i32(1024), y, y[SECOND:]), 20 * KIB),
        "pad_rows": ((16, 8192), (256,), (x, y), 0),
        "five_point": ((64, 256), (128,), (x, y), 0),
        "odd_rows": ((65536,), (256,), (x, y), 0),
        "long_rows": ((480,), (256,), (x, y, i32(7200)), 0),
        "reduce_scatter": ((120,), (256,), (y, i32(512)), ALONE),
        "all_to_all": ((120,), (256,), (y, i32(1024)), ALONE),
        "halo": ((120,), (512,), (y, i32(1024)), ALONE),
        "compact": ((1056,), (256,), (x, y, cupy.zeros(1, dtype=cupy.uint32), i32(64)), 0),
    }
    rings = {"exponentials": (128, 121), "polynomial": (224, 200), "in_place": (160, 200)}
    for case in cases:
        if case.ctas_per_sm is None:
            yield case, *shapes[case.file]
        else:
            block, tiles = rings[case.file]
            shared = PADDING[case.file][case.ctas_per_sm] * KIB
            yield case, (SMS * case.ctas_per_sm,), (block,), (x, y, i32(tiles)), shared


def measure(cases: list[Case]) -> dict[str, Times]:
    """Times of each of ``cases``. Raises RuntimeError if not as many CTAs fit as its scenario says."""
    flush, found = make_flush(), {}
    for case, grid, block, arguments, shared in launches(cases):
        kernel = compile_kernel(case.source, case.file)
        fit = kernel.max_active_ctas(block, shared)
        if case.ctas_per_sm is not None and fit != case.ctas_per_sm:
            raise RuntimeError(f"{case.name}: {fit} CTAs fit on an SM")
        launch = kernel.prepared(shared)
        found[case.name] = time_launch(
            lambda k=launch, g=grid, b=block, a=arguments, s=shared: k(g, b, a, shared_mem=s), REPEATS, 2, flush
        )
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m realkernels.everyday.measure", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help=f"folder for {' and '.join(TOTALS.values())}")
    parser.add_argument("--only", choices=[source.name for source in TOTALS], help="kernels of this source alone")
    options = parser.parse_args(argv)
    ok, reason = device.gpu_status()
    if not ok:
        print(f"no usable GPU: {reason}", file=sys.stderr)
        return 2
    options.out.mkdir(parents=True, exist_ok=True)
    for source, file in TOTALS.items():
        if options.only in (None, source.name):
            found = measure([case for case in CASES if case.source == source])
            rows = {name: {"total_s": times.median_s, "iqr_s": times.iqr} for name, times in found.items()}
            for name, row in rows.items():
                print(f"{name:32s} {row['total_s'] * 1e6:10.1f} us")
            document = {"device": device.describe_device(), "source_sha256": source_hash(source), "cases": rows}
            (options.out / file).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
