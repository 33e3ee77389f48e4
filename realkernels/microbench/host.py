"""Host costs, copy engines and the device's front end: ``python -m realkernels.microbench.host --out DIR``.

Writes one file, ``DIR/host_microbench.json``: device and host in words, and per bench its notes and rows.

============ ========================================================================================
bench        defines
============ ========================================================================================
calls        cost of each runtime call from Python through CuPy, idle and with a busy stream
cpp          the same from C++ (host_cost.cu)
device       gaps between kernels, copies, events and host functions in a stream, across streams, in a graph
copies       copy and memset time by size and direction, both directions at once, pageable staging, beside kernels
alloc        device, pinned and pool allocation, hits and misses, release thresholds, reuse
rules        which calls wait, queue depth, connections, resident grids, block order, default streams
latency      call to start and end to return, on one clock by CUPTI
handover     copy engines that serve streams which wait for each other's engines
programmatic kernels that begin while the one ahead runs: when they begin, when their wait returns
peers        copies and events between two devices; not among the default ones, as it needs two
============ ========================================================================================

Connections depend on the environment, so that part is run again in children with 1 and 32 of them.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from gpusim.files import json_by_rows, write_atomically
from gpusim.validation.recording import device_folder
from realkernels._harness import device
from realkernels._harness.compile import source_hash
from realkernels.microbench.bench import HERE

BENCHES = ("calls", "device", "copies", "alloc", "rules", "handover", "latency", "cpp", "programmatic")
OF_THEIR_OWN = ("peers", "programmatic")
"""Benches whose runs are kept apart: few machines have two devices, and what a device does needs no eighteen hosts."""
CONNECTIONS = (1, 32)
CHILD_LIMIT_S = 60.0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m realkernels.microbench.host", description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--install", type=Path, help="add the results of an earlier --out as a run of its own")
    parser.add_argument("--only", help="comma-separated benches; default all")
    parser.add_argument("--connections", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.install is not None:
        return install(options.install)
    if options.out is None:
        parser.error("--out or --install is needed")
    ok, reason = device.gpu_status()
    if not ok:
        print(f"no usable GPU: {reason}", file=sys.stderr)
        return 2
    from realkernels.microbench.host_lab import Lab

    lab = Lab()
    if options.connections:
        from realkernels.microbench.host_rules import connections

        print(json.dumps(list(connections(lab))))
        return 0
    names = options.only.split(",") if options.only else list(BENCHES)
    options.out.mkdir(parents=True, exist_ok=True)
    document = {
        "bench": "host", "device": device.describe_device(), "host": describe_host(), "benches": {},
        "source_sha256": source_hash(*sorted(HERE.glob("host*.py")), *sorted(HERE.glob("host*.cu*"))),
    }  # fmt: skip
    status = 0
    for name in names:
        status |= _bench(lab, name, document)
        _write(options.out / "host_microbench.json", document)
    _split(document, options.out)
    return status


def describe_host() -> dict:
    """The machine whose call costs these are, without its name."""
    return {
        "cpus": os.cpu_count(),
        "cpu": _cpu_model(),
        "kernel": ".".join(platform.release().split(".")[:2]),
        "python": platform.python_version(),
        "cupy": importlib.import_module("cupy").__version__,
        "connections": os.environ.get("CUDA_DEVICE_MAX_CONNECTIONS", "default"),
    }


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)


def _bench(lab, name: str, document: dict) -> int:
    begin = time.perf_counter()
    module = importlib.import_module(f"realkernels.microbench.host_{name}")
    rows: list[dict] = []
    entry = document["benches"][name] = {"notes": module.NOTES, "rows": rows}
    status = 0
    sections = [*module.SECTIONS, *([_other_connections] if name == "rules" else [])]
    for section in sections:
        try:
            rows.extend(section(lab))
        except Exception:
            # The rows of the other sections are worth having.
            status = 1
            entry.setdefault("failed", []).append(traceback.format_exc())
            print(f"{name}.{section.__name__}: failed\n{entry['failed'][-1]}", file=sys.stderr)
    entry["seconds"] = round(time.perf_counter() - begin, 2)
    print(f"{name}: {len(rows)} rows in {entry['seconds']} s", flush=True)
    return status


def _other_connections(_lab) -> list[dict]:
    """The aliasing rows of fresh processes with other numbers of connections."""
    rows = []
    for count in CONNECTIONS:
        environment = {**os.environ, "CUDA_DEVICE_MAX_CONNECTIONS": str(count)}
        command = [sys.executable, "-m", "realkernels.microbench.host", "--connections", "--out", "."]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=CHILD_LIMIT_S, check=False
        )
        if done.returncode:
            rows.append({"kind": "aliases", "connections": count, "failed": done.stderr[-500:]})
            continue
        rows.extend({**row, "connections": count} for row in json.loads(done.stdout.splitlines()[-1]))
    return rows


def _write(path: Path, document: dict) -> None:
    text = json.dumps(document, separators=(",", ":"))
    # One row a line, so that a new measurement is a readable diff.
    write_atomically(path, text.replace('{"kind"', '\n{"kind"').replace('{"call"', '\n{"call"') + "\n")


def install(folder: Path) -> int:
    """A further run in ``recorded/<device>/host``: one file per bench, one row a line. Needs no GPU.

    Runs of a bench of `OF_THEIR_OWN` alone go to a folder of its name.
    """
    document = json.loads((folder / "host_microbench.json").read_text(encoding="utf-8"))
    (only,) = document["benches"] if len(document["benches"]) == 1 else ("",)
    kind = only if only in OF_THEIR_OWN else "host"
    runs = HERE / "recorded" / device_folder(document["device"]["name"]) / kind
    day = document["device"]["date"][:10]
    target = next(run for n in itertools.count(1) if not (run := runs / f"{day}_{n}").exists())
    target.mkdir(parents=True)
    _split(document, target)
    print(f"{len(document['benches'])} benches in {target}")
    return 0


def _split(document: dict, target: Path) -> None:
    """One file per bench, one row a line: what `gpusim.host.calibration.calibrate` reads."""
    for name, bench in document["benches"].items():
        head = {"bench": f"host_{name}", **{key: document[key] for key in ("device", "host", "source_sha256")},
                "unit_notes": bench["notes"]}  # fmt: skip
        write_atomically(target / f"host_{name}.json", json_by_rows(head, map(_short, bench["rows"])))


def _short(value: Any) -> Any:
    """Six digits are more than any of these times repeats to."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, list):
        return [_short(item) for item in value]
    return {key: _short(item) for key, item in value.items()} if isinstance(value, dict) else value


if __name__ == "__main__":
    sys.exit(main())
