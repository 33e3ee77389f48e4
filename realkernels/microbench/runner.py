"""Compile everything in parallel, run bench after bench, write one JSON file each."""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from gpusim.files import json_by_rows, write_atomically
from realkernels._harness import device, timing
from realkernels._harness.compile import CompileError, compile_many, source_hash
from realkernels.microbench.bench import HERE, Context

BENCHES = (
    "clock",
    "power",
    "issue",
    "operands",
    "fetches",
    "halves",
    "multiply",
    "mma",
    "fragments",
    "wgmma",
    "waiting_products",
    "steps",
    "varied",
    "lds",
    "ldmatrix",
    "words",
    "banks",
    "pipes",
    "in_a_row",
    "masked",
    "behind",
    "behind_copies",
    "beside_copies",
    "behind_loads",
    "local",
    "local_hits",
    "lds_ffma",
    "ahead",
    "placement",
    "fairness",
    "mixed",
    "turns",
    "last_wave",
    "short_ctas",
    "barrier",
    "barrier_unit",
    "deferred",
    "latency",
    "tma",
    "elected",
    "alignment",
    "offset",
    "shifted",
    "rows",
    "skeleton",
    "syncs",
    "tile_turn",
    "parting",
    "time_stamps",
    "tma_store",
    "tma_both",
    "under_way",
    "cpasync",
    "ldg",
    "meeting",
    "burst",
    "together",
    "overtaking",
    "loaded",
    "access",
    "gather",
    "structs",
    "store_parts",
    "shifted_stores",
    "atomics",
    "shared_atomics",
    "hbm",
    "few_writes",
    "copies_beside",
    "behind_misses",
    "walk",
    "in_order",
    "l2",
    "far",
    "sharing",
    "moving_apart",
    "merged_reads",
    "waves_apart",
    "cluster",
    "dsmem",
    "sweeps",
    "hits",
    "rewritten",
    "dirty",
    "written_before",
    "launch",
    "first_wave",
)
"""Each is a module of this package with SOURCES, NOTES (field -> meaning and unit), specs() and run(context)."""

TABLE_ROWS = 10


def summary(name: str) -> str:
    """What the bench ``name`` tells: the first line of its module's docstring."""
    return (importlib.import_module(f"realkernels.microbench.{name}").__doc__ or "").partition("\n")[0]


def run(names: list[str], out: Path, progress: Callable[[int], None]) -> int:
    """Run the benches in order; return 0 if all succeeded, 1 if one failed, 3 if the device is lost."""
    begin = time.perf_counter()
    modules = {name: importlib.import_module(f"realkernels.microbench.{name}") for name in names}
    results = compile_many([spec for module in modules.values() for spec in module.specs()])
    for error in results:
        if isinstance(error, CompileError):
            print(error, file=sys.stderr)
    print(f"compiled {len(results)} kernels in {time.perf_counter() - begin:.1f} s", flush=True)

    context, description, status = Context(), device.describe_device(), 0
    for position, (name, module) in enumerate(modules.items(), start=1):
        progress(position)
        begin = time.perf_counter()
        try:
            context.clock_hz = timing.sample_clock()
            rows = list(module.run(context))
        except Exception:
            status = 1
            print(f"{name}: failed", file=sys.stderr)
            traceback.print_exc()
            if not _device_alive():
                return 3
            continue
        _write(out / f"{name}.json", _document(name, module, description, context.clock_hz, rows))
        print(f"\n{name}: {len(rows)} rows in {time.perf_counter() - begin:.1f} s")
        print(_table(rows), flush=True)
    return status


def _document(name: str, module: ModuleType, description: dict, clock_hz: float, rows: list[dict]) -> dict[str, Any]:
    return {
        "bench": name,
        "device": description,
        "clock_hz": clock_hz,
        "date": description["date"],
        "source_sha256": source_hash(*(HERE / source for source in module.SOURCES), Path(module.__file__)),
        "unit_notes": module.NOTES,
        "rows": rows,
    }


def _write(path: Path, document: dict) -> None:
    head = {key: value for key, value in document.items() if key != "rows"}
    write_atomically(path, json_by_rows(head, document["rows"]))


def _table(rows: list[dict]) -> str:
    """A few rows, evenly spread, as aligned text; nested values are left to the file."""
    step = max(1, len(rows) // TABLE_ROWS)
    lines = []
    for row in rows[::step]:
        flat = ((key, value) for key, value in row.items() if not isinstance(value, (dict, list)))
        lines.append("  " + "  ".join(f"{key}={_short(value)}" for key, value in flat))
    return "\n".join(lines)


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _device_alive() -> bool:
    import cupy

    try:
        cupy.cuda.Device().synchronize()
    except Exception:
        return False
    return True
