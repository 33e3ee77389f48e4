"""YAML text to plain data that remembers where every value stands.

The reader is stricter than YAML: no tags, no merge keys, no duplicate keys, bounded
size, depth and alias expansion. Scalars follow YAML 1.2, where ``1e9`` is a number and
``on``, ``no`` and ``1:30`` are text; PyYAML alone would read them otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from gpusim.errors import ScenarioError, nearest

__all__ = ["MAX_BYTES", "Place", "Source", "parse_scalar", "parse_yaml", "read_text", "shown"]

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_NODES = 50_000
MAX_DIGITS = 40  # longer integers cost quadratic time to convert and fit no field

Place = tuple[str | int, ...]

_INTEGER = re.compile(r"[-+]?[0-9]+(?:_[0-9]+)*|0x[0-9a-fA-F]+")
_OCTAL = re.compile(r"0[0-7_]*[0-7]")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_CONSTANTS = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    ".nan": float("nan"), ".NaN": float("nan"), ".NAN": float("nan"),
    ".inf": float("inf"), "+.inf": float("inf"), "-.inf": float("-inf"),
}  # fmt: skip


_COLON_IN_TEXT = re.compile(r"(?!.* #)\s*(?:- )*(\w+): +([^\s\"'\[{|>&*!#].{0,80}?: .{0,80}\S)\s*")
"""A line with a key and a text without quotes, no longer than a message should be, that has a colon and a blank."""

_LEFT_OUT = re.compile(r"\s*# - (.+)")
"""An item of a list that is a comment."""
_ASKED, _ONCE = re.compile(r"- repeat: +# loop [\d.]+: how often\?"), re.compile(r" *times: 1$")
"""A loop of a draft, and below it how often it runs as the draft has it."""
_HOW_MANY = re.compile(r" +(?:grid: 132|tiles_per_cta: 1|registers: 32|\w+: \{stages: 2, .*\}) +# how many ")
"""Numbers of a draft that nobody but the kernel's author knows, as it has them."""
_UNMODELLED = re.compile(r"#.*not in it, no model: (.+)")
"""What a draft says of instructions that it counts and no op stands for."""


@dataclass(frozen=True)
class Source:
    """Where a scenario came from: a file (or a stand-in name) and the place of each value.

    ``marks`` maps a path to (line, column) counted from 1; ``overrides`` names the paths
    that were set from outside, with the text that set them, or with the path of another value of the
    file that did, as those of a sweep do.
    """

    name: str
    marks: dict[Place, tuple[int, int]] = field(default_factory=dict)
    overrides: dict[Place, str | Place] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)
    """Items of lists that stand there as comments, by line."""
    unanswered: list[int] = field(default_factory=list)
    """Lines of a draft that ask how often or how many, and are as the draft has them."""
    unmodelled: dict[int, str] = field(default_factory=dict)
    """What a draft counts and no op stands for, by line."""
    asking: dict[int, str] = field(default_factory=dict)
    """Comments with a question mark, by line."""

    def error(self, problem: str, path: Place = (), **details: Any) -> ScenarioError:
        """A ScenarioError at the value of ``path``, or at the nearest parent that has a place."""
        path = self._set_from(path)
        file, line, column = self._position(path)
        return ScenarioError(problem, file=file, line=line, column=column, field=_dotted(path), **details)

    def _set_from(self, path: Place) -> Place:
        """Where the value of ``path`` stands in the file: somewhere else if another one has been set in its place."""
        for length in range(len(path), 0, -1):
            if not isinstance(origin := self.overrides.get(path[:length], ""), str):
                return origin + path[length:]
        return path

    def place(self, path: Place) -> str:
        """Where the value of ``path`` stands, as "own.yaml:12:5: kernel.roles"; empty if it is from no file."""
        if not self.marks:
            return ""
        path = self._set_from(path)
        known = (str(part) for part in self._position(path) if part is not None)
        return f"{':'.join(known)}: {_dotted(path)}"

    def _position(self, path: Place) -> tuple[str, int | None, int | None]:
        for length in range(len(path), -1, -1):
            if isinstance(text := self.overrides.get(path[:length]), str):
                return text, None, None
            if path[:length] in self.marks:
                return self.name, *self.marks[path[:length]]
        return self.name, None, None


def _dotted(path: Place) -> str:
    return ".".join(str(part) for part in path)


def read_text(path: Path) -> str:
    """The text of a scenario file. Raises ScenarioError if it is not a readable text file."""
    if path.is_dir():
        raise ScenarioError("is a folder, not a scenario file", file=path, allowed="one .yaml file")
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        if path.is_symlink():
            raise ScenarioError(f"is a link to {path.readlink()}, which is not there", file=path) from None
        raise ScenarioError("no such file", file=path, suggestion=_like(path)) from None
    except (OSError, ValueError) as error:
        raise ScenarioError(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=path) from None
    if len(data) > MAX_BYTES:
        raise ScenarioError("is too large", file=path, allowed=f"at most {MAX_BYTES // 1024} KiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ScenarioError("is not a text file", file=path, allowed="YAML in UTF-8") from None


def _like(path: Path) -> str | None:
    """The scenario file beside ``path`` with the nearest name; all names end alike, which says nothing."""
    beside = {entry.stem: entry.name for entry in path.parent.glob("*.y*ml")} if path.parent.is_dir() else {}
    stem = path.stem if path.suffix in (".yaml", ".yml") else path.name
    return beside.get(nearest(stem, beside) or "")


def parse_yaml(text: str, name: str) -> tuple[Any, Source]:
    """Plain data (dict, list, str, int, float, bool, None) and the place of each value.

    Raises ScenarioError, with line and column, for anything but one plain YAML document.
    """
    source = Source(name)
    if len(text) > MAX_BYTES:
        raise ScenarioError("is too large", file=name, allowed=f"at most {MAX_BYTES // 1024} KiB")
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
        problem = f"not YAML: {_problem(error)}"
        allowed = _in_quotes(text, mark) if "mapping values are not allowed" in problem else ""
        raise ScenarioError(problem, file=name, line=line, column=column, allowed=allowed) from None
    except (yaml.YAMLError, ValueError) as error:
        first_line = (str(error) or type(error).__name__).splitlines()[0]
        raise ScenarioError(f"not YAML: {first_line}", file=name) from None
    except RecursionError:
        raise _too_deep(name) from None
    if root is None:
        raise ScenarioError("is empty", file=name, allowed="a scenario; see scenarios/ for examples")
    lines = text.splitlines()
    source.left_out.update(
        (number, found[1]) for number, line in enumerate(lines, 1) if (found := _LEFT_OUT.match(line))
    )
    source.unmodelled.update(
        (number, found[1]) for number, line in enumerate(lines, 1) if (found := _UNMODELLED.search(line))
    )
    source.asking.update(
        (number, comment) for number, line in enumerate(lines, 1) if "?" in (comment := line.partition("#")[2])
    )
    source.unanswered.extend(
        number
        for number, (line, below) in enumerate(pairwise([*lines, ""]), 1)
        if (_ASKED.search(line) and _ONCE.match(below)) or _HOW_MANY.match(line)
    )
    return _Reader(source).value(root, ()), source


def _in_quotes(text: str, mark: yaml.Mark | None) -> str:
    """What most who read that mapping values are not allowed have forgotten; in the line at ``mark``, if it shows."""
    found = _COLON_IN_TEXT.fullmatch(text.splitlines()[mark.line]) if mark else None
    key, said = found.groups() if found else ("question", "Two stages: enough?")
    quoted = "'" + said.replace("'", "''") + "'" if {'"', "\\"} & set(said) else f'"{said}"'
    return f"a text that has a colon and a blank in quotes, as {key}: {quoted}"


def _problem(error: yaml.MarkedYAMLError) -> str:
    """What YAML's reader says, with the half of it that is in the context."""
    context, problem = error.context or "", error.problem or ""
    if problem.startswith("but "):  # expected a single document in the stream, but found another one
        return f"{context}, {problem}"
    if problem and context.startswith("while parsing a flow") and error.context_mark:
        mark = error.context_mark
        return f"{problem} (what opens at {mark.line + 1}:{mark.column + 1} is not closed before)"
    return problem or context


def shown(value: Any) -> str:
    """A value in a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def parse_scalar(text: str) -> Any:
    """The value of one plain scalar by the YAML 1.2 rules; text where it is nothing else."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if len(text) > MAX_DIGITS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text, 16) if text[:2] == "0x" else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


class _Reader:
    """Walks the node graph once per use, so that an alias costs what it expands to."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._nodes = 0

    def value(self, node: yaml.Node, path: Place) -> Any:
        self._visit(node, path)
        if isinstance(node, yaml.ScalarNode):
            if not node.style and _OCTAL.fullmatch(node.value):
                self._check_octal(node.value, path)
            # Quoted and block scalars are text whatever they look like.
            return node.value if node.style else parse_scalar(node.value)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, path)
            if key in result:
                self._mark(key_node, (*path, key))
                raise self._source.error("is given twice", (*path, key))
            result[key] = self.value(value_node, (*path, key))
            # An error about a key is best shown where the key stands.
            self._mark(key_node, (*path, key))
        return result

    def _check_octal(self, text: str, path: Place) -> None:
        """Raise ScenarioError for a number that is another one to those who read YAML 1.1."""
        if isinstance(parse_scalar(text), int) and int(text, 8) != int(text):
            problem = f"{text} begins with 0: read as octal, as some do, it is {int(text, 8)}"
            raise self._source.error(problem, path, allowed=f"{int(text)}, or a text in quotes")

    def _visit(self, node: yaml.Node, path: Place) -> None:
        self._nodes += 1
        self._mark(node, path)
        if self._nodes > MAX_NODES:
            raise ScenarioError("expands to too many values", file=self._source.name, allowed=f"{MAX_NODES} values")
        if len(path) > MAX_DEPTH:
            raise _too_deep(self._source.name)
        if node.tag is not None and node.tag.startswith(("!", "tag:")) and not _is_default(node):
            raise self._source.error("YAML tags are not supported", path, given=node.tag[:80])

    def _key(self, node: yaml.Node, path: Place) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._at(node, "a key must be a name", path)
        if node.value == "<<" and not node.style:
            raise self._at(node, "YAML merge keys are not supported; repeat the entries", path)
        # What names it, such as "stream: null", would say nothing.
        if not node.style and node.value and _CONSTANTS.get(node.value, "") is None:
            raise self._at(node, f"{node.value} is nothing in YAML, not a name; use another one", path)
        return node.value

    def _at(self, node: yaml.Node, problem: str, path: Place) -> ScenarioError:
        """An error about a key of the mapping at ``path``, which is no key that a path could have."""
        self._mark(node, path)
        return self._source.error(problem, path)

    def _mark(self, node: yaml.Node, path: Place) -> None:
        self._source.marks[path] = (node.start_mark.line + 1, node.start_mark.column + 1)


def _is_default(node: yaml.Node) -> bool:
    return node.tag in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map")


def _too_deep(name: str) -> ScenarioError:
    return ScenarioError("is nested too deeply", file=name, allowed=f"{MAX_DEPTH} levels")
