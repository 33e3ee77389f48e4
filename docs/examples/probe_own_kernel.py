"""Measures what happens inside a kernel of one's own, for `gpusim compare` (docs/probe.md explains each step).

    python3 docs/examples/probe_own_kernel.py -o rmsnorm.npz
    gpusim compare scenarios/own_rmsnorm.yaml --measured rmsnorm.npz

Needs a GPU of compute capability 9.0 or newer, numpy and CuPy.
"""
# ruff: noqa: INP001 - a script, no package

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpusim.validation.recording import save_timeline
from realkernels._harness import probe
from realkernels._harness.device import device_name, gpu_status
from realkernels._harness.observe import Buffers, Observed, observe
from realkernels._harness.timing import make_flush, time_launch

HERE = Path(__file__).resolve().parent
HARNESS = Path(probe.__file__).resolve().parent
"""Where probe.cuh and observer.cuh lie; copy them beside your kernel if you prefer."""

HIDDEN, WARPS, EPSILON = 4096, 8, np.float32(1e-5)
ROW_BYTES = 4 * HIDDEN


def build(stages: int, *, instrumented: bool) -> Any:
    """The kernel, with its time stamps or without."""
    import cupy  # noqa: PLC0415 - so that --help needs no GPU

    options = ["-std=c++17", f"-I{HARNESS}", f"-DHIDDEN={HIDDEN}", f"-DWARPS={WARPS}", f"-DSTAGES={stages}"]
    source = (HERE / "probe_own_kernel.cu").read_text(encoding="utf-8")
    module = cupy.RawModule(code=source, options=tuple(options + ["-DPROBE"] * instrumented))
    kernel = module.get_function("rmsnorm")
    kernel.max_dynamic_shared_size_bytes = stages * ROW_BYTES
    return kernel


def check(x: Any, weight: Any, y: Any) -> None:
    """Compare some rows with NumPy. Raises AssertionError: a wrong kernel is not worth measuring."""
    rows = np.linspace(0, len(x) - 1, 32).astype(int)
    values = x[rows].get().astype(np.float64)
    wanted = values / np.sqrt((values**2).mean(axis=1, keepdims=True) + float(EPSILON)) * weight.get()
    if not np.allclose(y[rows].get(), wanted, rtol=1e-4, atol=1e-6):
        raise AssertionError("the kernel computes something else")


def measure(stages: int, grid: int, rows_per_cta: int) -> tuple[Observed, dict[str, Any]]:
    """Run both builds; launches of the instrumented one, and what to say about them."""
    import cupy  # noqa: PLC0415

    rows = grid * rows_per_cta
    x = cupy.random.random((rows, HIDDEN), dtype=cupy.float32)
    weight = cupy.random.random(HIDDEN, dtype=cupy.float32)
    y = cupy.empty_like(x)
    arguments = (x, weight, y, np.int32(rows), EPSILON)
    shared = stages * ROW_BYTES

    plain = build(stages, instrumented=False)
    times = time_launch(lambda: plain((grid,), (32 + 32 * WARPS,), arguments, shared_mem=shared), flush=make_flush())
    check(x, weight, y)

    traced = build(stages, instrumented=True)
    block = 32 + 32 * WARPS + 32  # the observer is one warp more
    flush = make_flush()

    def launch(more: tuple) -> float:
        run = time_launch(
            lambda: traced((grid,), (block,), (*arguments, *more), shared_mem=shared), repeats=1, warmup=0, flush=flush
        )
        return run.median_s

    y.fill(0)
    observed = observe(launch, Buffers(grid, tiles=rows_per_cta), times.median_s)
    check(x, weight, y)

    about = {
        "kernel": "rmsnorm",
        "device": device_name(),
        "params": {"stages": stages, "grid": grid, "rows_per_cta": rows_per_cta},
        "total_s": times.median_s,
        "instrumented_total_s": observed.total_s,
        "overhead": observed.overhead,
    }
    return observed, about


def save(observed: Observed, about: dict[str, Any], path: Path) -> str:
    """Write the timeline; returns a line about it. Roles and ring are called as in the scenario."""
    timeline = observed.timeline(role="consumer", ring="input", tile_bytes=ROW_BYTES, max_tiles=150, meta=about)
    save_timeline(path, "rmsnorm", timeline)
    return (
        f"{path}: {len(timeline)} intervals, total {about['total_s'] * 1e6:.1f} us, with time stamps "
        f"{about['overhead']:+.1%}, {observed.recording.dropped} stamps dropped, clocks agree within "
        f"{observed.recording.alignment_s * 1e9:.0f} ns"
    )


def main(arguments: list[str] | None = None) -> int:
    """Command line; exit 2 where there is no GPU."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("rmsnorm.npz"))
    parser.add_argument("--stages", type=int, default=3)
    parser.add_argument("--grid", type=int, default=264)
    parser.add_argument("--rows-per-cta", type=int, default=64)
    options = parser.parse_args(arguments)
    usable, reason = gpu_status()
    if not usable:
        sys.stderr.write(f"error: {reason}\n")
        return 2
    observed, about = measure(options.stages, options.grid, options.rows_per_cta)
    sys.stdout.write(save(observed, about, options.output) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
