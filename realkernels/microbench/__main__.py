"""Command line of the calibration: ``python -m realkernels.microbench --out DIR [--only a,b]``, or ``--list``.

The benches run in a child process. A kernel that faults poisons its process and one that hangs never
returns; the parent then starts a new child with the benches that are left.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from gpusim.files import write_atomically
from realkernels._harness import device
from realkernels.microbench import runner

BENCH_LIMIT_S = 120.0
"""Longest a single bench (or the compilation before the first) may take before it counts as hung."""
PROGRESS = ".progress"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m realkernels.microbench", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for <bench>.json")
    parser.add_argument("--list", action="store_true", help="print the benches and what each tells, and run none")
    parser.add_argument("--only", help="comma-separated benches; default all")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)

    names = options.only.split(",") if options.only else list(runner.BENCHES)
    unknown = [name for name in names if name not in runner.BENCHES]
    if unknown:
        print(f"unknown bench {', '.join(unknown)}; there are {', '.join(runner.BENCHES)}", file=sys.stderr)
        return 2
    if options.list:
        for name in names:
            print(f"{name:14} {runner.summary(name)}")
        return 0
    if options.out is None:
        parser.error("--out or --list is needed")
    options.out.mkdir(parents=True, exist_ok=True)
    if options.worker:
        return runner.run(names, options.out, lambda started: _write_progress(options.out, started))
    ok, reason = device.gpu_status()
    if not ok:
        print(f"no usable GPU: {reason}", file=sys.stderr)
        return 2
    return _supervise(names, options.out)


def _supervise(names: list[str], out: Path) -> int:
    remaining, failed = names, False
    while remaining:
        _write_progress(out, 0)
        command = [sys.executable, "-m", "realkernels.microbench", "--worker"]
        child = subprocess.Popen([*command, "--out", str(out), "--only", ",".join(remaining)])
        hung = _watch(child, out)
        started = _read_progress(out)
        if hung and started:
            print(f"{remaining[started - 1]}: gave up after {BENCH_LIMIT_S:.0f} s", file=sys.stderr)
        failed |= hung or child.returncode != 0
        # A child that ends without having started a bench would end so again.
        remaining = remaining[started:] if started else []
    (out / PROGRESS).unlink(missing_ok=True)
    return 1 if failed else 0


def _watch(child: subprocess.Popen, out: Path) -> bool:
    """Wait for the child; kill it and return True once it makes no progress for the limit."""
    seen, since = _read_progress(out), time.monotonic()
    while child.poll() is None:
        time.sleep(0.1)
        now = _read_progress(out)
        if now != seen:
            seen, since = now, time.monotonic()
        elif time.monotonic() - since > BENCH_LIMIT_S:
            child.kill()
            child.wait()
            return True
    return False


def _write_progress(out: Path, started: int) -> None:
    write_atomically(out / PROGRESS, str(started))


def _read_progress(out: Path) -> int:
    return int((out / PROGRESS).read_text())


if __name__ == "__main__":
    sys.exit(main())
