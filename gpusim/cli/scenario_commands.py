"""``run`` and ``compare``: one scenario, its prediction and its recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from gpusim.cli.advice import print_advice
from gpusim.cli.inputs import positive, single_scenario
from gpusim.cli.output import console, print_json, print_table, seconds, share, signed
from gpusim.errors import GpusimError
from gpusim.scenario import Answer, Scenario, advise, answer, predict
from gpusim.timeline import TimelineBuilder
from gpusim.timeline.metrics import busy_by_lane, summary, wait_by_reason
from gpusim.units import format_quantity
from gpusim.validation import (
    Comparison,
    MetricError,
    compare_own,
    compare_timelines,
    compare_with,
    measurement_of,
    read_measured,
)

__all__ = ["Measured", "compare", "run"]

_NAMES = {
    "total_s": "total", "period_s": "period per tile", "exposed_s": "exposed copy time",
    "hidden_fraction": "hidden fraction of copy time",
}  # fmt: skip
"""What people read for the metrics of a timeline, in this order."""
_FEW_ASSUMED = 12
"""Quantities that are told by their names."""


@dataclass(frozen=True)
class Measured:
    """What the command line says was measured: a file and its timeline, or a total time with its unit."""

    file: Path | None = None
    timeline: str | None = None
    total: str | None = None


def run(
    path: Path, assignments: list[str] | None, device: str | None, *, json: bool, exact: bool, advice: bool
) -> None:
    """Predict one scenario, and with ``advice`` what changes of it would gain."""
    scenario = single_scenario(path, assignments, device)
    result = answer(scenario, exact=exact)
    recording = measurement_of(scenario)
    comparison = compare_with(result.timeline, recording) if recording else None
    advised = advise(scenario, result.timeline) if advice else None
    if json:
        data = _run_data(result, comparison)
        print_json(data if advised is None else {**data, "advice": advised.as_dict()})
        return
    _print_run(result, comparison)
    if advised is not None:
        print_advice(advised)


def _run_data(result: Answer, comparison: Comparison | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "scenario": result.scenario.resolved(),
        "scenario_hash": result.scenario.hash,
        "device": result.scenario.device,
        "predicted": result.predicted(),
        "lanes": busy_by_lane(result.timeline),
        "waits": wait_by_reason(result.timeline),
        "doubts": list(result.scenario.doubts()),
    }
    if comparison is not None:
        data["measured"] = summary(comparison.measured)
        data["error"] = comparison.as_dict()
    return data


def _print_run(result: Answer, comparison: Comparison | None) -> None:
    out = console()
    out.print(result.scenario.question, style="bold")
    meta = result.timeline.meta
    values = result.predicted()
    rows = _numbers(values, comparison)
    head = ["", "predicted", "measured", "error"] if comparison else ["", "predicted"]
    print_table(f"{result.scenario.device}", head, rows)
    if result.speedup_vs_serial is not None and result.serial_s != result.timeline.total_s:
        in_turn = result.scenario.model.host is not None
        yardstick = "with all calls in one stream, in turn" if in_turn else "without overlap"
        out.print(f"{result.speedup_vs_serial:.2f}x as fast as {yardstick}")
    limit = values["bottleneck"]
    if limit:
        out.print(f"bottleneck: {limit['name']} ({limit['share']:.0%}); what helps: {limit['lever']}")
    fits = meta.get("occupancy") or {}
    if fits:
        out.print(_occupancy(fits, result.scenario))
        if fits["grid"] > fits["at_once"]:
            out.print(_waves(fits["grid"], fits["at_once"]))
    rates = (
        ("memory traffic, hits in L2 included", "bandwidth_bytes_per_s", "bandwidth"),
        ("arithmetic", "flop_per_s", "flop_rate"),
    )
    for text, name, dimension in rates:
        if values[name]:
            out.print(f"{text}: {format_quantity(values[name], dimension)}")
    if values["assumed"]:
        out.print(_assumed(values["assumed"], result.scenario.device))
    for doubt in result.scenario.doubts():
        out.print(f"doubtful: {doubt}", soft_wrap=True)
    if comparison:
        out.print(f"verdict: {comparison.told}")


def _assumed(names: Sequence[str], device: str) -> str:
    """What of the device nobody has measured; of one that was not measured at all only how much."""
    if len(names) <= _FEW_ASSUMED:
        return f"assumed quantities: {', '.join(names)}"
    return f"assumed quantities: {len(names)}; `gpusim devices {device}` lists them"


def _occupancy(fits: dict[str, Any], scenario: Scenario) -> str:
    """How many CTAs share an SM, and by what: what is asked for, the grid, or a limit of the SM."""
    able, there, limit = fits["ctas_per_sm"], fits["resident"], scenario.limiter(fits)
    asked = scenario.ctas_per_sm or 0
    known = f"{able} CTA{'s' if able != 1 else ''} per SM"
    if asked > able:
        return f"{known}, limited by {limit}; ctas_per_sm: {asked} asks for more than fit"
    if there < able:
        return f"CTAs per SM: {there} by the grid; {able} would fit, limited by {limit}"
    return f"{known}, limited by {limit}"


def _waves(grid: int, at_once: int) -> str:
    """How many CTAs run at a time, and how many are left when those before have ended."""
    rest = grid % at_once or at_once
    return f"{grid:,} CTAs, {at_once:,} at a time: {-(-grid // at_once):,} waves, the last one of {rest:,}"


def _numbers(values: dict[str, Any], comparison: Comparison | None) -> list[list[str]]:
    """A row per number; that of kernels that take time stamps is below the one without."""
    measured = summary(comparison.measured) if comparison else {}
    rows = []
    for name, text in _NAMES.items():
        # Without copies nothing is exposed or hidden, without a loop there is no period.
        if not any(map(_says_something, (values[name], measured.get(name)))):
            continue
        row = [text, _shown(name, values[name])]
        if comparison is not None:
            error = comparison.metric(name)
            if error is not None and name == "hidden_fraction" and (what := _compared_over(comparison)):
                rows.append([*row, "", ""])
                row = [f"… {what}", _shown(name, error.predicted)]
            row += [_shown(name, measured.get(name)), _difference(error)]
        rows.append(row)
    return rows


def _compared_over(comparison: Comparison) -> str:
    """Of what the hidden fractions compared are, where it is not all of the plain kernel."""
    stamped = "in a kernel that takes time stamps" if comparison.unstamped_hidden is not None else ""
    rings = f"of copies into {' and '.join(comparison.watched)} only" if comparison.watched else ""
    return ", ".join(part for part in (stamped, rings) if part)


def _shown(name: str, value: float | None) -> str:
    """A number with its unit: a fraction, or a time."""
    return share(value) if name == "hidden_fraction" else seconds(value)


def _difference(error: MetricError | None) -> str:
    """Relative, but for fractions."""
    if error is not None and error.name == "hidden_fraction":
        return f"{error.error:+.3f}"
    return signed(error.error if error else None)


def _says_something(value: float | None) -> bool:
    return value is not None and isfinite(value)


def compare(
    path: Path,
    assignments: list[str] | None,
    device: str | None,
    measured: Measured,
    *,
    json: bool,
    exact: bool,
) -> int:
    """Compare one scenario with its recording, or with what was ``measured``; the exit code."""
    scenario = single_scenario(path, assignments, device)
    comparison, about = _compared(scenario, exact, measured)
    if json:
        print_json({"scenario": scenario.resolved(), "device": scenario.device, **about, **comparison.as_dict()})
    else:
        metrics = [(_NAMES[entry.name], entry) for entry in comparison.metrics]
        means = [(f"{entry.name}, mean", entry) for entry in (*comparison.by_kind, *comparison.by_stage)]
        rows = [
            (text, _shown(entry.name, entry.predicted), _shown(entry.name, entry.measured), _difference(entry))
            for text, entry in (*metrics, *means)
        ]
        print_table(scenario.question, ("", "predicted", "measured", "error"), rows)
        if what := _compared_over(comparison):
            console().print(f"the hidden fraction is that {what}")
        if comparison.unstamped_hidden is not None:
            console().print(f"predicted without time stamps: {share(comparison.unstamped_hidden)}")
        overhead = comparison.measured.meta.get("overhead")
        if measured.file is not None and overhead is not None:
            console().print(f"with its time stamps the kernel took {overhead:+.1%} longer; the total is without them")
        console().print(f"verdict: {comparison.told}")
    return 0 if comparison.within else 1


def _compared(scenario: Scenario, exact: bool, given: Measured) -> tuple[Comparison, dict[str, Any]]:
    """The comparison, and what is said of the measurement besides."""
    if given.total is not None:
        if given.file is not None:
            raise GpusimError("--total and --measured exclude each other: a time, or a file that says it")
        if given.timeline is not None:
            raise GpusimError("--timeline names a timeline of a file, and --total has none; use --measured FILE")
        total_s = positive(given.total, "--total", "time", "3.82ms")
        timeline = TimelineBuilder().build(source="measured", device=scenario.recorded_device, total_s=total_s)
        return compare_timelines(predict(scenario, exact=exact), timeline), {"measured": {"total_s": total_s}}
    if given.file is None:
        if given.timeline is not None:
            raise GpusimError("--timeline names a timeline of a file; say which with --measured FILE")
        recording = measurement_of(scenario, required=True)
        return compare_with(predict(scenario, exact=exact), recording), {}
    name, timeline = read_measured(given.file, scenario, given.timeline)
    about = {"file": str(given.file), "timeline": name, "overhead": timeline.meta.get("overhead")}
    comparison = compare_own(scenario, predict(scenario, exact=exact), timeline, exact=exact)
    return comparison, {"measured": about}
