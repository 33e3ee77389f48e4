"""The text of a scenario in the panel of a what-if: a value a line, with the lines that are changed or wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml
from dash import html

from gpusim.errors import GpusimError
from gpusim.scenario.overrides import apply_override, parse_assignments, split_path
from gpusim.scenario.yaml_source import parse_yaml

__all__ = ["path_of", "text_lines", "text_of", "with_changes"]

TEXT_WIDTH = 10_000
"""Letters in a line: a sentence stays in one, whatever the panel makes of it."""
FLOW_WIDTH = 40
"""Letters of a mapping or list that stands in one line; a longer one has a line for each value, which can be marked."""


class _Dumper(yaml.SafeDumper):
    """Short collections of plain values in one line, all others in block style."""

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        node.flow_style = node.flow_style and sum(len(k.value) + len(v.value) + 4 for k, v in node.value) <= FLOW_WIDTH
        return node

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        node = super().represent_sequence(tag, sequence, flow_style)
        node.flow_style = node.flow_style and sum(len(item.value) + 2 for item in node.value) <= FLOW_WIDTH
        return node


def text_of(data: Mapping[str, Any]) -> str:
    """The scenario ``data`` as a YAML file."""
    return yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=TEXT_WIDTH, default_flow_style=None
    )


def with_changes(text: str, changes: Iterable[str]) -> str:
    """``text`` with changes that nobody has checked, as ``--set`` has them; what has no place in it is left out."""
    data, _ = parse_yaml(text, "scenario")
    for change in changes:
        with contextlib.suppress(GpusimError, KeyError):
            for path, values in parse_assignments([change]).items():
                data = apply_override(data, split_path(path), values[0] if len(values) == 1 else values)
    return text_of(data)


def text_lines(text: str, changed: Sequence[str] = (), wrong: Sequence[str] = ()) -> list[html.Div]:
    """One element a line; those of the values at the dotted paths ``changed`` and ``wrong`` are marked."""
    if not text:
        return []
    _, source = parse_yaml(text, "scenario")
    lines = {".".join(map(str, place)): line for place, (line, _) in source.marks.items() if place}
    marks = {_line(path, lines): "changed" for path in changed} | {_line(path, lines): "wrong-line" for path in wrong}
    return [
        html.Div(line, className=f"line {marks[number]}" if number in marks else "line")
        for number, line in enumerate(text.splitlines(), 1)
    ]


def path_of(change: str) -> str:
    """The dotted path that a change sets."""
    return change.partition("=")[0].strip()


def _line(path: str, lines: Mapping[str, int]) -> int:
    """The line of a value, or of the nearest thing around it that stands in the text; 0 for none."""
    while path and path not in lines:
        path = path.rpartition(".")[0]
    return lines.get(path, 0)
