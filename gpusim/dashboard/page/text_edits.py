"""Between a scenario's text and changes of its values: either is made of the other, comments and layout stay.

A change is put where its value stands, a new key behind those that are there. What cannot be put so, such as one of a
value that an alias repeats, makes the text anew from its data.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import yaml

from gpusim.dashboard.page.scenario_text import path_of, text_of
from gpusim.errors import GpusimError
from gpusim.scenario.overrides import apply_override, parse_assignments, split_path
from gpusim.scenario.yaml_source import Place, parse_yaml

__all__ = ["changes_between", "edited"]

MOST_LETTERS = 20_000
"""A longer text is not searched for changes: it is kept as it is."""
MOST_CHANGES = 24
_CHANGEABLE = ("kernel", "host", "device")
"""What a change may be of: all else, as the question, is text."""


class _Unlike(Exception):  # noqa: N818 - it is what a text is to another one, or to its own data
    """No change of a value makes one text of the other, or it has no place of its own."""


def edited(text: str, changes: Iterable[str]) -> str:
    """``text`` with ``changes``, as ``--set`` has them; nobody has checked them, what has no place is left out."""
    try:
        data, _ = parse_yaml(text, "scenario")
    except GpusimError:
        return text
    meant: list[tuple[Place, Any, tuple[str, str]]] = []
    for change in changes:
        with contextlib.suppress(GpusimError):
            ((path, values),) = parse_assignments([change]).items()
            value = values[0] if len(values) == 1 else values
            data = apply_override(data, split_path(path), value)
            meant.append((split_path(path), value, (change.partition("=")[2].strip(), _flow(value))))
    if not meant:
        return text
    # As it was typed, if that can stand there; else as YAML writes the value.
    for whole, way in product((text, _written_out(text)), range(2)):
        with contextlib.suppress(_Unlike, GpusimError):
            found = _all_placed(whole, [(place, value, written[way]) for place, value, written in meant])
            if parse_yaml(found, "scenario")[0] == data:
                return found
    return text_of(data)


def changes_between(before: str, after: str) -> tuple[str, ...] | None:
    """The changes that make exactly ``after`` of ``before``; None where other values of what is there do not."""
    if max(len(before), len(after)) > MOST_LETTERS:
        return None
    try:
        found = tuple(_differences(before, after))
    except (_Unlike, GpusimError):
        return None
    return found if len(found) <= MOST_CHANGES and edited(before, found) == after else None


def _all_placed(text: str, meant: Iterable[tuple[Place, Any, str]]) -> str:
    for place, value, written in meant:
        data = apply_override(parse_yaml(text, "scenario")[0], place, value)
        text = _placed(text, place, written, data)
    return text


@lru_cache(maxsize=64)
def _root(text: str) -> yaml.Node:
    """What YAML finds in ``text``, with its places. Raises _Unlike for what the reader of scenarios refuses."""
    try:
        parse_yaml(text, "scenario")
    except GpusimError as error:
        raise _Unlike from error
    return yaml.compose(text, Loader=yaml.BaseLoader)


def _written_out(text: str) -> str:
    """``text`` without anchors, and with what they name, in one line, in the place of each alias."""
    if "&" not in text:
        return text
    data, _ = parse_yaml(text, "scenario")
    places: dict[int, Place] = {}
    for place, node in _nodes(_root(text), ()):
        places.setdefault(node.start_mark.index, place)
    named: dict[str, str] = {}
    parts, done = [], 0
    for token in yaml.scan(text, Loader=yaml.BaseLoader):
        if not isinstance(token, yaml.AnchorToken | yaml.AliasToken):
            continue
        start, end = token.start_mark.index, token.end_mark.index
        if isinstance(token, yaml.AnchorToken):
            named[token.value] = _flow(_at(data, places[start]))
            end += text[end : end + 1] == " "
        parts += [text[done:start], "" if isinstance(token, yaml.AnchorToken) else named[token.value]]
        done = end
    return "".join([*parts, text[done:]])


def _nodes(node: yaml.Node, place: Place) -> Iterator[tuple[Place, yaml.Node]]:
    """Every value with its place, what contains others before them."""
    yield place, node
    if isinstance(node, yaml.MappingNode):
        for key, below in node.value:
            yield from _nodes(below, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for index, below in enumerate(node.value):
            yield from _nodes(below, (*place, index))


def _placed(text: str, place: Place, written: str, data: Any) -> str:
    """``text`` with ``written`` as the value at ``place``; ``data`` is what it then means."""
    node, depth = _root(text), 0
    while depth < len(place) and (below := _child(node, place[depth])) is not None:
        node, depth = below, depth + 1
    if depth == len(place):
        return _replaced(text, node, written)
    if isinstance(node, yaml.MappingNode):
        key = str(place[depth])
        whole = _at(data, (*place[:depth], key))
        return _with_entry(text, node, f"{_flow(key)}: {written if depth + 1 == len(place) else _flow(whole)}")
    return _replaced(text, node, _flow(_at(data, place[:depth])))


def _child(node: yaml.Node, key: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for name, value in node.value if name.value == str(key)), None)
    inside = isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value)
    return node.value[key] if inside else None


def _replaced(text: str, node: yaml.Node, written: str) -> str:
    if isinstance(node, yaml.CollectionNode) and not node.flow_style:
        raise _Unlike
    start, end = node.start_mark.index, node.end_mark.index
    gap = " " if start == end else ""  # nothing stands there yet
    return text[:start] + gap + written + text[end:]


def _with_entry(text: str, node: yaml.MappingNode, entry: str) -> str:
    """``text`` with one more ``entry`` at the end of a mapping."""
    if not node.value:
        at = node.start_mark.index + 1  # behind its brace: only such a mapping can be empty
        return text[:at] + entry + text[at:]
    end = _end(node.value[-1][1])
    if node.flow_style:
        return f"{text[:end]}, {entry}{text[end:]}"
    end = text.find("\n", end)
    end = len(text) if end < 0 else end
    return f"{text[:end]}\n{' ' * node.value[0][0].start_mark.column}{entry}{text[end:]}"


def _end(node: yaml.Node) -> int:
    """Where the last value ends that is in a node; a block collection itself ends where the next thing begins."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    return node.end_mark.index


def _at(data: Any, place: Place) -> Any:
    for key in place:
        data = data[key]
    return data


def _flow(value: Any) -> str:
    """A value in one line, as it can stand in brackets."""
    return yaml.safe_dump([value], default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9)[1:-2]


def _differences(before: str, after: str) -> Iterator[str]:
    for place, raw in _unlike_leaves(_root(before), _root(after), (before, after), ()):
        path = ".".join(map(str, place))
        change = f"{path}={raw}"
        # What a dotted path cannot name, such as a key with dots, is no change.
        if place[0] not in _CHANGEABLE or "\n" in raw or path_of(change) != path or split_path(path) != place:
            raise _Unlike
        yield change


def _unlike_leaves(
    one: yaml.Node, other: yaml.Node, texts: tuple[str, str], place: Place
) -> Iterator[tuple[Place, str]]:
    """Where plain values differ, and how the second text writes them. Raises _Unlike where more than those does."""
    leaf = isinstance(one, yaml.ScalarNode)
    if type(one) is not type(other) or not (leaf or len(one.value) == len(other.value)):
        raise _Unlike
    if isinstance(one, yaml.MappingNode):
        for (key, below), (name, there) in zip(one.value, other.value, strict=True):
            if key.value != name.value:
                raise _Unlike
            yield from _unlike_leaves(below, there, texts, (*place, key.value))
    elif isinstance(one, yaml.SequenceNode):
        for index, (below, there) in enumerate(zip(one.value, other.value, strict=True)):
            yield from _unlike_leaves(below, there, texts, (*place, index))
    else:
        raws = [
            text[node.start_mark.index : node.end_mark.index] for text, node in zip(texts, (one, other), strict=True)
        ]
        if raws[0] != raws[1]:
            yield place, raws[1]
