"""``sweep``: many points, ranked, with a progress bar on a terminal."""

from __future__ import annotations

from pathlib import Path

from gpusim.cli.inputs import scenario_and_sweep
from gpusim.cli.output import console, print_json, print_table, progress_bar, seconds, share
from gpusim.cli.sweep_groups import axes_of, groups_as_json, print_groups, short, values
from gpusim.errors import GpusimError
from gpusim.scenario import Scenario, SweepPoint, SweepResult
from gpusim.scenario import sweep as run_sweep
from gpusim.scenario.kinds import Kind

__all__ = ["sweep"]

_RANKED_BY = {"": "total_s", "FLOP": "total_s per FLOP", "byte": "total_s per byte"}


def sweep(
    path: Path,
    assignments: list[str] | None,
    device: str | None,
    *,
    json: bool,
    exact: bool,
    overlap: bool,
    output: Path | None,
    workers: int | None,
    dask: str | None,
    top: int,
) -> None:
    """Run the sweep and print its ranking, or where points do unlike work the best of each amount of it."""
    scenario, axes = scenario_and_sweep(path, assignments, device)
    if not axes:
        raise GpusimError(f"{path}: nothing to sweep; add a sweep section or an axis, as --set {_some_axis(scenario)}")
    with progress_bar("points", wanted=not json) as progress:
        result = run_sweep(
            scenario, axes, output=output, workers=workers, exact=exact, trace=overlap, dask=dask, progress=progress
        )
    if not result.ranked:
        raise GpusimError(f"{path}: no point of the sweep can run; the first: {result.points[0].error}")
    if json:
        print_json(
            {
                "scenario": scenario.resolved(),
                "device": scenario.device,
                "ranked_by": _RANKED_BY[result.yardstick.per],
                "points": [_row(point) for point in result.points],
                "ranked": [point.index for point in result.ranked],
                "best": _row(result.best) if result.best else None,
                **groups_as_json(result),
            }
        )
        return
    if result.best:
        _print_ranking(scenario.question, result, overlap, top)
    else:
        print_groups(scenario.question, result, overlap, top)
    _print_errors(result)


def _some_axis(scenario: Scenario) -> str:
    """An axis that this scenario can have: what its technique, its rings or its calls are counted by."""
    kernel, host, technique = scenario.model.kernel, scenario.model.host, scenario.technique
    if technique is not None:
        counted = technique.named(Kind.STAGES, Kind.STREAMS)
        return f"kernel.params.{counted[0]}=1,2,3" if counted else "device.base=h200_sxm,b200"
    if host is not None:
        return f"host.threads.{next(iter(host.threads))}.chunks=8,16,32"
    return f"kernel.rings.{next(iter(kernel.rings))}.stages=1,2,3" if kernel.rings else "kernel.ctas_per_sm=1,2,4"


def _print_ranking(question: str, result: SweepResult, overlap: bool, top: int) -> None:
    """Points of the same work, the quickest first."""
    names = axes_of(result)
    head = [*map(short, names), "total", "of best", *(["hidden"] if overlap else [])]
    best_s = result.ranked[0].total_s
    rows = [
        [
            *values(point.point, names),
            seconds(point.total_s),
            f"{point.total_s / best_s:.3f}x",
            *([share(point.metrics["hidden_fraction"])] if overlap else []),
        ]
        for point in result.ranked[:top]
    ]
    print_table(question, head, rows)
    if len(result.ranked) > len(rows):
        console().print(f"… and {len(result.ranked) - len(rows)} more (--top)")


def _row(point: SweepPoint) -> dict:
    return {
        "index": point.index,
        "point": point.point,
        "error": point.error or None,
        "work": point.work,
        **point.metrics,
    }


def _print_errors(result: SweepResult) -> None:
    """Print why points cannot run: each reason once, with the points it concerns."""
    reasons: dict[str, list[SweepPoint]] = {}
    for point in result.points:
        if point.error:
            reasons.setdefault(point.error, []).append(point)
    for reason, points in reasons.items():
        values = "; ".join(
            ", ".join(f"{short(path)}={value}" for path, value in point.point.items()) for point in points
        )
        console().print(f"not {values}: {reason}")
