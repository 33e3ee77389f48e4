"""``check``: is what stands in scenario files possible."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpusim.cli.output import console, print_error, print_json
from gpusim.errors import GpusimError
from gpusim.scenario import load, predict
from gpusim.scenario.sweeps.points import check_sweep

__all__ = ["check"]


def check(paths: Sequence[Path], json: bool) -> int:
    """Load and run each of ``paths``, and load the points of its sweep; tells what is wrong or doubtful about them.

    Returns the exit code.
    """
    found: list[dict[str, Any]] = []
    for path in paths:
        try:
            scenario = load(path)
            check_sweep(scenario)
            predict(scenario, trace=False)
            found.append({"file": str(path), "error": None, "doubts": list(scenario.doubts())})
        except GpusimError as error:
            found.append({"file": str(path), "error": str(error), "doubts": []})
    if json:
        print_json({"files": found})
    else:
        for each in found:
            if each["error"] is not None:
                print_error(each["error"])
            elif each["doubts"]:
                for doubt in each["doubts"]:
                    console().print(f"{each['file']}: doubtful: {doubt}", markup=False, soft_wrap=True)
            else:
                console().print(f"{each['file']}: fine", markup=False)
    return 2 if any(each["error"] for each in found) else 0
