"""Dotted overrides, ``kernel.params.stages=4``, and the sweeps that comma lists make.

Below ``device.set`` the rest of a path is one key, because the names of a device's
quantities have dots of their own: ``device.set.hbm.read_bandwidth=8 TB/s``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from gpusim.errors import GpusimError, ScenarioError, listing
from gpusim.scenario.yaml_source import Place, parse_scalar, parse_yaml, shown

__all__ = ["apply_override", "assignment", "grid_points", "parse_assignments", "split_path"]

MAX_POINTS = 100_000


def split_path(dotted: str) -> Place:
    """The keys of a dotted path; digits are list positions. Raises GpusimError if a key is empty."""
    head, _, quantity = dotted.partition("device.set.")
    if not head and quantity:
        return ("device", "set", quantity)
    parts = dotted.split(".")
    if not all(part.strip() for part in parts):
        raise GpusimError(f"override path {dotted[:80]!r} has an empty part; expected a dotted path such as "
                          "kernel.params.stages")  # fmt: skip
    return tuple(int(part) if part.isdecimal() and len(part) < 6 else part for part in parts)


def parse_assignments(texts: Iterable[str]) -> dict[str, list[Any]]:
    """``["a.b=1", "c=1,2"]`` → ``{"a.b": [1], "c": [1, 2]}``. Raises GpusimError, ScenarioError.

    A value is read as in a scenario file; commas outside brackets and quotes make a list
    of values to try.
    """
    found: dict[str, list[Any]] = {}
    for text in texts:
        path, separator, value = text.partition("=")
        if not separator or not path.strip():
            raise GpusimError(f"override {text[:80]!r}: expected path=value, such as kernel.params.stages=4")
        path = path.strip()
        found[path] = [_value(part, f"--set {path}") for part in _split_commas(value)]
    return found


def assignment(path: str, value: Any) -> str:
    """The text that `parse_assignments` reads back as ``value`` at ``path``."""
    # Plain words stand for themselves; JSON is YAML for everything else.
    word = isinstance(value, str) and value.replace("_", "").isalnum() and parse_scalar(value) == value
    return f"{path}={value if word else json.dumps(value)}"


def apply_override(data: Any, path: Place, value: Any, _above: Place = ()) -> Any:
    """A copy of ``data`` with ``value`` at ``path``; missing mappings are made on the way.

    Raises ScenarioError, which says what there is instead, where a list position does not exist or a plain value stands
    in the way.
    """
    if not path:
        return value
    key, rest = path[0], path[1:]
    below = *_above, key
    if isinstance(data, list):
        if not isinstance(key, int) or not 0 <= key < len(data):
            raise _no_position(key, data, _above)
        return [apply_override(item, rest, value, below) if index == key else item for index, item in enumerate(data)]
    if data is None:
        data = {}
    if key in ("base", "set") and isinstance(data, str):
        data = {"base": data}  # device: name is short for device: {base: name}
    if not isinstance(data, dict) and _above == ("device",):
        meant = f"device.set.{_dotted(path)}"
        raise ScenarioError(f"there is no {key!r} to set in device; its quantities stand below set", allowed=meant)
    if not isinstance(data, dict):
        raise ScenarioError(f"there is no {key!r} to set in {_dotted(_above)}, which is {shown(data)} and has no parts")
    return {**data, str(key): apply_override(data.get(str(key)), rest, value, below)}


def _no_position(key: str | int, items: list[Any], above: Place) -> ScenarioError:
    """Positions of a list count from 0; those of an op list are told with their words."""
    where = _dotted(above)
    if not items:
        return ScenarioError(f"there is no position {key} in {where}, which is empty", allowed=f"{where} as a whole")
    words = [next(iter(item)) if isinstance(item, dict) and len(item) == 1 else item for item in items]
    named = all(isinstance(word, str) for word in words)
    told = listing(f"{number} {word}" for number, word in enumerate(words)) if named else f"0 to {len(items) - 1}"
    return ScenarioError(f"there is no position {key} in {where}, which has {len(items)}", allowed=told)


def _dotted(path: Place) -> str:
    return ".".join(map(str, path))


def grid_points(axes: Mapping[str, list[Any]] | list[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """The points of a sweep as {path: value}; all combinations of a mapping, last path fastest.

    Raises GpusimError beyond 100,000 points.
    """
    if not axes:
        return [{}]
    if isinstance(axes, list):
        return [dict(point) for point in axes]
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > MAX_POINTS:
        raise GpusimError(f"the sweep has {count:,} points; at most {MAX_POINTS:,} are allowed")
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def _value(text: str, name: str) -> Any:
    return parse_yaml(text, name)[0] if text.strip() else ""


def _split_commas(text: str) -> list[str]:
    parts, depth, quote, start = [], 0, "", 0
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[{":
            depth += 1
        elif char in "]}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]
