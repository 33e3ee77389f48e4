"""Writes ``machine_code.json``: what the compiler makes of the loop over stages, by shape and number of stages.

    python -m realkernels.gemm_mma.count

Needs nvcc and cuobjdump of the CUDA toolkit, no GPU. The counts are those of ``gpusim count --draft``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from realkernels._harness.compile import HERE as HARNESS
from realkernels.gemm_mma import Params
from realkernels.gemm_mma.launch import defines_of
from realkernels.gemm_mma.machine_code import FILE, SHAPE

KERNEL = Path(__file__).parent / "kernel.cu"
STAGES = range(1, 9)


def main() -> int:
    """Count every kernel and write the file."""
    kernels = [(shape, stages) for shape in _shapes() for stages in STAGES]
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda kernel: _counted(*kernel), kernels))
    merged: list[dict[str, Any]] = []
    for (shape, stages), counted in zip(kernels, found, strict=True):
        same = next((one for one in merged if one["shape"] == shape and one["loop"] == counted), None)
        if same is None:
            merged.append({"shape": shape, "stages": [stages], "loop": counted})
        else:
            same["stages"].append(stages)
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in merged)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(kernels)} kernels, {len(merged)} of them different, in {FILE}")
    return 0


def _shapes() -> Iterator[dict[str, int]]:
    for values in product((64, 128, 256), (64, 128, 256), (32, 64), (4, 8)):
        shape = dict(zip(SHAPE, values, strict=True))
        try:
            Params(**shape)
        except ValueError:
            continue
        yield shape


def _counted(shape: dict[str, int], stages: int) -> dict[str, Any]:
    """What is computed ahead of the copies of a stage, and with them: fields of a `Mix`."""
    params = Params(**shape, stages=stages)
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        flags = [f"-D{name}={value}" for name, value in defines_of(params).items()]
        _run(["nvcc", "-arch=sm_90a", "-std=c++17", f"-I{HARNESS}", "-cubin", "-o", str(cubin), *flags, str(KERNEL)])
        text = _run([sys.executable, "-m", "gpusim", "count", "--draft", str(params.warps), str(cubin)])
    ops = yaml.safe_load(text)["all"]["per_tile"]
    words = [op if isinstance(op, str) else next(iter(op)) for op in ops]
    copies, waits = words.index("cp_async"), words.index("wait_group")
    ahead: dict[str, Any] = {}
    products: dict[str, Any] = {}
    for at, op in enumerate(ops):
        if words[at] != "compute":
            continue
        fields = op["compute"]
        if "mma" in fields or "lds" in fields:
            _add(products, fields)
        elif not copies < at < waits:
            # What stands between copies and the wait for them is done while they are under way.
            _add(ahead, fields)
    return {"ahead": ahead, "products": products}


def _add(to: dict[str, Any], fields: dict[str, Any]) -> None:
    """Add ``fields`` of a further op: loads in an op of their own belong to the products behind them."""
    if "mma" in fields and "fragments" not in fields:
        fields = {"fragments": [[0, fields["mma"], 0]], **fields}
    for name, number in fields.items():
        if name == "gaps":
            to[name] = [a + b for a, b in zip(to.get(name, [0] * len(number)), number, strict=True)]
        elif name == "fragments":
            loads = to.get("lds", 0) if name not in to else 0
            (first, *rest) = number
            to[name] = [*to.get(name, []), [first[0] + loads, *first[1:]], *rest]
        elif name in ("lds_bytes", "mma_ilp"):
            to[name] = max(number, to.get(name, 0))
        elif name not in ("loads_in_flight", "load_to_use"):
            to[name] = to.get(name, 0) + number


def _run(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    raise SystemExit(main())
