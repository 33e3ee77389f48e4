"""What paths of a sweep have to do with each other and with overrides beside them: what would be lost, or run twice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from gpusim.errors import GpusimError
from gpusim.scenario.overrides import split_path
from gpusim.scenario.yaml_source import Place, shown

__all__ = ["Axes", "axes_problems", "joined", "pinned"]

Axes = Mapping[str, list[Any]] | list[Mapping[str, Any]]
"""Dotted paths with the values to try, for all combinations; or a list of chosen points."""

_DEVICE = ("device", "base")


def axes_problems(axes: Axes) -> Iterator[tuple[Place, str]]:
    """Where and why a sweep is not meant so: values or points given twice, and a path with another one inside it."""
    if isinstance(axes, list):
        first: dict[str, int] = {}
        for number, point in enumerate(axes):
            before = first.setdefault(_written(dict(sorted(point.items()))), number)
            if before != number:
                yield (number,), f"is the same point as {before}; leave one of them out"
            yield from (((number, path), told) for path, told in _nested(list(point)))
        return
    for path, values in axes.items():
        known: set[str] = set()
        for number, value in enumerate(values):
            if (written := _written(value)) in known:
                yield (path, number), f"{shown(value)} is given twice; leave one of them out"
            known.add(written)
    yield from (((path,), told) for path, told in _nested(list(axes)))


def joined(own: Axes | None, given: Mapping[str, list[Any]]) -> Axes:
    """The axes of a file with ``given`` ones, which replace those at the same place and join the others.

    Chosen points have no axes, so that ``given`` ones stand in their place.
    """
    if not isinstance(own, dict):
        return given or own or {}
    replaced = {_place(path, values) for path, values in given.items()}
    kept = {path: values for path, values in own.items() if path in given or _place(path, values) not in replaced}
    return {**kept, **given}


def pinned(axes: Axes, fixed: Mapping[str, str]) -> Axes:
    """``axes`` without what the paths ``fixed`` set, so that their values hold; of points then alike one is left.

    ``fixed``: paths, each with what has set it, for messages. Raises GpusimError where an axis sets all of what a path
    is inside of, and where no axis is left.
    """
    paths = {_place(path, [""]): option for path, option in fixed.items()}
    lost = [
        (path, option)
        for path, values in _paths(axes).items()
        for place, option in paths.items()
        if _inside(place, split_path(path)) and place != _place(path, values)
    ]
    if lost:
        path, name = lost[0]
        instead = "sweep device.base instead" if path == "device" else f"set or sweep {path} as a whole"
        raise GpusimError(f"{name} would be lost: the sweep sets all of {path} at every point; {instead}")
    kept = {path for path, values in _paths(axes).items() if _place(path, values) not in paths}
    if axes and not kept:
        told = " and ".join(option for place, option in paths.items() if place in _places(axes))
        raise GpusimError(f"nothing is left to sweep: {told} set{'' if ' and ' in told else 's'} every axis; "
                          "gpusim run predicts one point, a list of values (=1,2,3) makes an axis")  # fmt: skip
    if isinstance(axes, Mapping):
        return {path: values for path, values in axes.items() if path in kept}
    if len(kept) == len(_paths(axes)):
        return axes
    left = ({path: value for path, value in point.items() if path in kept} for point in axes)
    return [point for point in {_written(point): point for point in left}.values() if point]


def _paths(axes: Axes) -> dict[str, list[Any]]:
    """Paths that are set, each with its values."""
    if isinstance(axes, Mapping):
        return dict(axes)
    found: dict[str, list[Any]] = {}
    for point in axes:
        for path, value in point.items():
            found.setdefault(path, []).append(value)
    return found


def _places(axes: Axes) -> set[Place]:
    return {_place(path, values) for path, values in _paths(axes).items()}


def _nested(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A path that sets what another one is inside of, and that one: whichever is set last, values of both are lost."""
    # What is no path is told where it is set.
    for first, second in combinations([path for path in paths if all(path.split("."))], 2):
        one, other = split_path(first), split_path(second)
        if _inside(other, one) and one != other:
            # A name, and behind it quantities of whatever it names.
            if first != "device" or other[:2] != ("device", "set"):
                yield second, f"is inside {first}, which the sweep sets as a whole; leave one of them out"
        elif _inside(one, other):
            allowed = "put it first" if second == "device" and one[:2] == ("device", "set") else "leave one of them out"
            yield second, f"replaces {first}, which is inside it and set before; {allowed}"


def _inside(place: Place, outer: Place) -> bool:
    return place[: len(outer)] == outer


def _place(path: str, values: Sequence[Any]) -> Place:
    """What a path with such values sets; ``device: name`` is short for ``device: {base: name}``."""
    place = split_path(path)
    return _DEVICE if place == ("device",) and all(isinstance(value, str) for value in values) else place


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
