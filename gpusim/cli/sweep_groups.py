"""What ``sweep`` prints where points do unlike work: for each amount of it the best setting of the levers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpusim.cli.output import console, print_table, seconds, share, signed
from gpusim.scenario import SweepPoint, SweepResult
from gpusim.scenario.sweeps.groups import one_for_all
from gpusim.scenario.sweeps.yardstick import not_the_same
from gpusim.units import format_quantity

__all__ = ["axes_of", "groups_as_json", "print_groups", "short", "values"]

_RATE = {"FLOP": "flop_rate", "byte": "bandwidth"}


def groups_as_json(result: SweepResult) -> dict[str, Any]:
    """``work_axes``, ``levers``, ``groups`` and ``one_for_all`` of `SweepResult`; differences as parts of the best."""
    found = one_for_all(result.groups) if result.work_axes else None
    return {
        "work_axes": list(result.work_axes),
        "levers": _levers(result),
        "groups": [
            {
                "setting": group.setting,
                "best": group.best.index,
                "ranked": [point.index for point in group.ranked],
                "median_longer": group.median_longer,
                "worst_longer": group.worst_longer,
            }
            for group in result.groups
        ],
        "one_for_all": None if found is None else {"setting": found[0], "longer_at_most": found[1]},
    }


def print_groups(question: str, result: SweepResult, overlap: bool, top: int) -> None:
    """A row for each amount of work, in the order of the sweep; with ``overlap`` also what the best hides."""
    axes, levers = list(result.work_axes), _levers(result)
    groups = result.groups
    compared = any(len(group.ranked) > 1 for group in groups)
    rate = ["rate"] if result.yardstick.per else []
    head = [*map(short, axes), *(f"best {short(path)}" if compared else short(path) for path in levers), "total", *rate]
    head += [*(["hidden"] if overlap else []), *(["of points", "median", "worst"] if compared else [])]
    rows = []
    for group in groups[:top]:
        best = group.best
        row = [*values(group.setting, axes), *values(best.point, levers), seconds(best.total_s), *_rate(result, best)]
        row += [share(best.metrics["hidden_fraction"])] if overlap else []
        if compared:
            row += [len(group.ranked), _longer(group.median_longer), _longer(group.worst_longer)]
        rows.append(row)
    print_table(question, head, rows)
    if len(groups) > len(rows):
        _say(f"… and {len(groups) - len(rows)} more (--top)")
    _say(_explained(result, compared))
    if compared and (found := one_for_all(groups)):
        setting, longer = found
        told = ", ".join(f"{short(path)}={value}" for path, value in setting.items())
        _say(f"one setting for all: {told}, at most {longer:.1%} longer than the best of each")


def axes_of(result: SweepResult) -> list[str]:
    """The paths that the points set, in their order."""
    return list(dict.fromkeys(name for point in result.points for name in point.point))


def short(path: str) -> str:
    """The last two parts of a dotted path, which say enough above a column."""
    return ".".join(path.split(".")[-2:])


def values(setting: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """What it sets on each of ``names``."""
    return [str(setting.get(name, "as in the file")) for name in names]


def _levers(result: SweepResult) -> list[str]:
    return [path for path in axes_of(result) if path not in result.work_axes]


def _rate(result: SweepResult, point: SweepPoint) -> list[str]:
    yardstick = result.yardstick
    if not yardstick.per:
        return []
    return [format_quantity(1.0 / yardstick.cost_s(point.total_s, point.work), _RATE[yardstick.per])]


def _explained(result: SweepResult, compared: bool) -> str:
    """Why there is no best point of all, and what compares instead."""
    names = ", ".join(map(short, result.work_axes))
    differ = f"{not_the_same(result.yardstick.differ)} with {names}"
    rate = "; the rate says how much is done in a second, not what is better" if result.yardstick.per else ""
    if compared:
        return f"{differ}; compared is what does the same, how much longer its median and its worst point take{rate}"
    why = "every axis changes the work" if not _levers(result) else "no two points that ran do the same"
    return f"{differ}; {why}, so that no point is better than another{rate}"


def _longer(value: float | None) -> str:
    return "–" if value is None else signed(value)


def _say(text: str) -> None:
    console().print(text, soft_wrap=True)
