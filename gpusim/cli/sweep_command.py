"""``sweep``: many points, ranked, with a progress bar on a terminal."""

from __future__ import annotations

from pathlib import Path

from gpusim.cli.inputs import scenario_and_axes
from gpusim.cli.output import console, print_json, print_table, progress_bar, seconds, share
from gpusim.errors import GpusimError
from gpusim.scenario import SweepPoint, SweepResult
from gpusim.scenario import sweep as run_sweep
from gpusim.scenario.sweeps.yardstick import Yardstick
from gpusim.units import format_quantity

__all__ = ["sweep"]

_RATE = {"FLOP": "flop_rate", "byte": "bandwidth"}
_RANKED_BY = {"": "total_s", "FLOP": "total_s per FLOP", "byte": "total_s per byte"}


def sweep(
    path: Path,
    assignments: list[str] | None,
    device: str | None,
    json: bool,
    exact: bool,
    overlap: bool,
    output: Path | None,
    workers: int | None,
    dask: str | None,
    top: int,
) -> None:
    """Run the sweep and print its ranking."""
    scenario, given = scenario_and_axes(path, assignments, device)
    own = scenario.model.sweep or {}
    # Axes on the command line replace the same axes of the file and join the others.
    axes = {**own, **given} if isinstance(own, dict) else (given or own)
    if not axes:
        raise GpusimError(f"{path}: nothing to sweep; add a sweep section or --set kernel.params.stages=1,2,3")
    with progress_bar("points", wanted=not json) as progress:
        result = run_sweep(
            scenario, axes, output=output, workers=workers, exact=exact, trace=overlap, dask=dask, progress=progress
        )
    best = result.best
    if best is None:
        raise GpusimError(f"no point of the sweep can run; the first: {result.points[0].error}")
    if json:
        print_json(
            {
                "scenario": scenario.resolved(),
                "device": scenario.device,
                "ranked_by": _RANKED_BY[result.yardstick.per],
                "points": [_row(point) for point in result.points],
                "ranked": [point.index for point in result.ranked],
                "best": _row(best),
            }
        )
        return
    names = list(dict.fromkeys(name for point in result.points for name in point.point))
    yardstick = result.yardstick
    rate = ["rate"] if yardstick.per else []
    head = [*(_short(name) for name in names), "total", *rate, "of best", *(["hidden"] if overlap else [])]
    rows = [[*_values(point, names), *_results(point, best, yardstick, overlap)] for point in result.ranked[:top]]
    print_table(scenario.question, head, rows)
    if yardstick.told:
        console().print(yardstick.told)
    hidden = len(result.ranked) - len(rows)
    if hidden > 0:
        console().print(f"… and {hidden} more (--top)")
    _print_errors(result)


def _row(point: SweepPoint) -> dict:
    return {
        "index": point.index,
        "point": point.point,
        "error": point.error or None,
        "work": point.work,
        **point.metrics,
    }


def _values(point: SweepPoint, names: list[str]) -> list[str]:
    return [str(point.point.get(name, "as in the file")) for name in names]


def _results(point: SweepPoint, best: SweepPoint, yardstick: Yardstick, overlap: bool) -> list[str]:
    hidden = [share(point.metrics["hidden_fraction"])] if overlap else []
    cost_s, least_s = (yardstick.cost_s(one.total_s, one.work) for one in (point, best))
    rate = [format_quantity(1.0 / cost_s, _RATE[yardstick.per])] if yardstick.per else []
    return [seconds(point.total_s), *rate, f"{cost_s / least_s:.3f}x", *hidden]


def _print_errors(result: SweepResult) -> None:
    """Print why points cannot run: each reason once, with the points it concerns."""
    reasons: dict[str, list[SweepPoint]] = {}
    for point in result.points:
        if point.error:
            reasons.setdefault(point.error, []).append(point)
    for reason, points in reasons.items():
        values = "; ".join(
            ", ".join(f"{_short(path)}={value}" for path, value in point.point.items()) for point in points
        )
        console().print(f"not {values}: {reason}", markup=False)


def _short(path: str) -> str:
    """The last two parts of a dotted path, which say enough above a column."""
    return ".".join(path.split(".")[-2:])
