"""The text of a scenario as the page shows it, and which of its lines stand for what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import yaml

from gpusim.errors import GpusimError
from gpusim.scenario.yaml_source import parse_yaml

__all__ = ["ScenarioText", "changed_lines", "lines_at", "path_of", "plain_breaks", "text_of"]

TEXT_WIDTH = 10_000
"""Letters in a line: a sentence stays in one, whatever the panel makes of it."""
FLOW_WIDTH = 40
"""Letters of a mapping or list that stands in one line; a longer one has a line for each value."""


@dataclass(frozen=True, slots=True)
class ScenarioText:
    """A scenario's text, with the numbers of its lines that are not those of its file, counted from 1."""

    text: str = ""
    changed: tuple[int, ...] = ()


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


def plain_breaks(text: str) -> str:
    """``text`` with the line breaks that a browser's text field has."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def changed_lines(before: str, after: str) -> tuple[int, ...]:
    """The lines of ``after`` that are not in ``before``; where some are only left out, the line behind them."""
    if before == after:
        return ()
    lines = after.split("\n")
    found: set[int] = set()
    for kind, _, _, start, end in SequenceMatcher(None, before.split("\n"), lines, autojunk=False).get_opcodes():
        if kind != "equal":
            found.update(range(start + 1, max(end, min(start + 1, len(lines))) + 1))
    return tuple(sorted(found))


def lines_at(text: str, paths: Iterable[str]) -> tuple[int, ...]:
    """The lines of the values at dotted ``paths``, or of the nearest thing around them that stands in ``text``."""
    try:
        _, source = parse_yaml(text, "scenario")
    except GpusimError:
        return ()
    lines = {".".join(map(str, place)): line for place, (line, _) in source.marks.items() if place}
    return tuple(sorted({line for path in paths if (line := _line(path, lines))}))


def path_of(change: str) -> str:
    """The dotted path that a change sets."""
    return change.partition("=")[0].strip()


def _line(path: str, lines: Mapping[str, int]) -> int:
    while path and path not in lines:
        path = path.rpartition(".")[0]
    return lines.get(path, 0)
