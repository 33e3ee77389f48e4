"""Hardware counters of a bench's own launches, by Nsight Compute (``ncu``)."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Sequence

OPTIONS = ("--clock-control", "none", "--csv", "--print-units", "base")
LIMIT_S = 150.0


def counted(bench: str, kernel: str, metrics: Sequence[str], *, flush: bool) -> list[dict[str, float]]:
    """``metrics`` of each launch of ``kernel`` by ``python -m realkernels.microbench.<bench>``, in order.

    With ``flush`` the profiler empties L2 before each. Raises subprocess.CalledProcessError.
    """
    command = ["ncu", *OPTIONS, "--cache-control", "all" if flush else "none", "--kernel-name", kernel]
    command += ["--metrics", ",".join(metrics), sys.executable, "-m", f"realkernels.microbench.{bench}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    found: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"')):
        found.setdefault(row["ID"], {})[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    return list(found.values())
