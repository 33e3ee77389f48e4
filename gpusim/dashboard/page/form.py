"""What can be changed of a scenario: fields with their limits, and the changes that their values stand for."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpusim.dashboard.figure.text import bytes_text, spaced
from gpusim.dashboard.page.scenario_text import path_of
from gpusim.dashboard.page.stops import spelled_stops, stops_of
from gpusim.hardware import profile_names
from gpusim.scenario import Scenario
from gpusim.scenario.overrides import assignment
from gpusim.units import format_quantity, parse

__all__ = ["Field", "Form", "apart", "changes_of", "form_of"]

MOST_FIELDS = 24
"""So many fields a program that is spelled out has at most; the first are its grid, its rings and its roles."""
NOT_IN_FILE = "# save the edited text under a name: then gpusim run takes it"
_AROUND_LOOPS, _UNSAID = ("prologue", "before_loop", "epilogue"), ("roles", "rings", "per_tile", "threads", "per_chunk")


@dataclass(frozen=True, slots=True)
class Field:
    """One number or word of a scenario: ``value`` as it is now, ``base`` without the changes, both as people type it.

    ``path`` is what ``--set`` would name. ``choices`` for one of a few; ``whole`` for whole numbers without a unit.
    ``stops``: values for a slider, ascending, with what one types for each; empty for what is not bounded.
    """

    path: str
    label: str
    value: str
    base: str
    why: str = ""
    choices: tuple[str, ...] = ()
    whole: bool = False
    least: float | None = None
    most: float | None = None
    step: float | None = None
    stops: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True)
class Form:
    """All that a what-if can change, and what it comes to.

    ``others``: changes that are none of a field, such as those of the device's quantities, of which ``quantities``
    holds the values. ``command`` is what runs it on the command line.
    """

    fields: tuple[Field, ...] = ()
    others: tuple[str, ...] = ()
    quantities: Mapping[str, str] = field(default_factory=dict)
    command: str = ""


def form_of(
    own: Scenario, base: Scenario, now: Scenario, changes: Sequence[str], *, in_file: bool = True
) -> Form:  # fmt: skip
    """The form of ``now``, which is ``base`` with ``changes``; ``base`` may be a recorded point of ``own``.

    Not ``in_file``: it is an edited text, which no command knows.
    """
    fields = tuple(_fields(base, now))
    paths = {one.path for one in fields}
    others = tuple(change for change in changes if path_of(change) not in paths)
    quantities = {name: quantity.text for name, quantity in now.profile().quantities.items()}
    if not in_file:
        return Form(fields, others, quantities, NOT_IN_FILE)
    sets = [*apart(own, base), *changes]
    command = shlex.join(["gpusim", "run", own.source.name, *(part for change in sets for part in ("--set", change))])
    return Form(fields, others, quantities, command)


def changes_of(fields: Sequence[Field], values: Mapping[str, Any], known: Sequence[str]) -> tuple[str, ...]:
    """The changes that ``values`` (by path, as typed) make, with those ``known`` ones that are none of a field.

    An empty field stands for the value without changes. One that says what it said keeps its change as that was
    written: "16384" in the text is "16 KiB" in its field.
    """
    held = {path_of(change): change for change in known}
    found = []
    for one in fields:
        typed = values.get(one.path)
        text = "" if typed is None else str(typed).strip()
        change = held.pop(one.path, None)
        if change is not None and text == one.value:
            found.append(change)
        elif text and text != one.base:
            found.append(f"{one.path}={text}")
    return (*found, *held.values())


def apart(own: Scenario, base: Scenario) -> list[str]:
    """The changes that make the recorded point ``base`` of the scenario itself."""
    if base is own or base.params is None:
        return []
    mine, theirs = (dataclasses.asdict(each.params) for each in (own, base))
    return [assignment(f"kernel.params.{name}", value) for name, value in theirs.items() if value != mine[name]]


def _fields(base: Scenario, now: Scenario) -> Iterator[Field]:
    if now.params is not None:
        yield from _parameters(base, now)
    else:
        yield from list(_spelled(base.data, now.data))[:MOST_FIELDS]
    path = "device" if isinstance(base.data.get("device"), str) else "device.base"
    names = tuple(dict.fromkeys([*profile_names(), base.device, now.device]))
    yield Field(path, "device", now.device, base.device, "Device profile of the prediction.", names)


def _parameters(base: Scenario, now: Scenario) -> Iterator[Field]:
    for one in dataclasses.fields(now.params):
        limits = one.metadata or {}
        unit, kept = limits.get("unit"), getattr(base.params, one.name)
        value, before = (_typed(getattr(each.params, one.name), unit) for each in (now, base))
        choices = tuple(map(str, limits.get("choices") or ()))
        if isinstance(kept, bool):
            choices = ("true", "false")
        bounds = (limits.get("ge"), limits.get("le"), limits.get("multiple_of"))
        stops = () if choices or isinstance(kept, str) else stops_of(kept, *bounds)
        name = f"{one.name.removesuffix('_s')}_time" if unit == "s" and one.name.endswith("_s") else one.name
        label = spaced(name)
        yield Field(
            f"kernel.params.{one.name}", label, value, before, limits.get("doc") or "", choices,
            whole=not choices and value.isdecimal() and unit is None,
            least=limits.get("ge"), most=limits.get("le"), step=limits.get("multiple_of"),
            stops=tuple((stop, _typed(stop, unit)) for stop in stops),
        )  # fmt: skip


def _typed(value: Any, unit: str | None) -> str:
    """A parameter as one types it, in a unit only where that is exactly the same."""
    if isinstance(value, bool):
        return str(value).lower()
    if unit == "bytes" and value >= 1024:
        text = bytes_text(value)
        return text if parse(text, "bytes") == value else str(value)
    if unit in ("s", "time"):
        text = format_quantity(value, "time", 6)
        return text if value and parse(text, "time") == value else repr(value)
    return str(value)


def _spelled(base: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Field]:
    """Numbers of a kernel or host program that is spelled out, shallow ones first."""
    kind = "kernel" if "kernel" in now else "host"
    before = dict(_leaves(base[kind], (kind,)))
    leaves = [(place, value) for place, value in _leaves(now[kind], (kind,)) if place in before]
    alike: Counter[str] = Counter()
    for place, value in sorted(leaves, key=lambda leaf: (len(leaf[0]), any(isinstance(key, int) for key in leaf[0]))):
        words = [key for key in place[1:] if isinstance(key, str)]
        label = _label([*(key for key in words[:-1] if key not in _UNSAID), words[-1]])
        alike[label] += 1
        yield Field(
            ".".join(map(str, place)), _numbered(label, alike[label]), str(value), str(before[place]),
            ".".join(map(str, place)), whole=isinstance(value, int), least=0 if isinstance(value, int) else None,
            stops=spelled_stops(next(key for key in reversed(place) if isinstance(key, str)), before[place]),
        )  # fmt: skip


def _label(words: Sequence[str]) -> str:
    """The field first where it is deep inside: what comes last is cut off where there is no room.

    The word `compute` is dropped: only its fields are instruction counts.
    """
    said = [spaced(word) for word in words]
    return " ".join(said) if len(said) < 3 else " · ".join(word for word in reversed(said) if word != "compute")


def _numbered(label: str, number: int) -> str:
    """The second and later ones of the same label say which they are, in front, where it is not cut off."""
    name, dot, rest = label.partition(" · ")
    return f"{name} ({number}){dot}{rest}" if number > 1 else label


def _leaves(data: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            if key not in _AROUND_LOOPS:
                yield from _leaves(value, (*place, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _leaves(value, (*place, index))
    elif (isinstance(data, int | float) and not isinstance(data, bool)) or str(data)[:1].isdigit():
        yield place, data
