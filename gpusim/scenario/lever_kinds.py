"""What can be pulled: parameters by kind, the values to try, and what pays for them.

A technique's own limits (``ge``, ``le``, ``multiple_of``, ``choices`` of `gpusim.scenario.technique.param`) decide
which of the values are possible. A parameter is a lever if it is of a kind of `LEVERS`, or if the technique says so
(``lever`` of `param`); any other is part of the work, not of how it is done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpusim.scenario.kinds import Kind
from gpusim.units import format_quantity

__all__ = [
    "LEVERS", "Lever", "Proposal", "enough", "grid_with", "grids_to_try", "label", "levers_of", "shown",
    "values_to_try", "whole",
]  # fmt: skip


def _around(value: int) -> tuple[int, ...]:
    """One more, one fewer, several more, several fewer."""
    return (value + 1, value - 1, max(2 * value, 4), value // 2)


def _scaled(value: int) -> tuple[int, ...]:
    """Double and half."""
    return (2 * value, value // 2) if value % 2 == 0 else (2 * value,)


@dataclass(frozen=True)
class Lever:
    """A lever: its name on screen, values to try from the present one, and what the smaller value spares.

    ``noun`` (plural) says that fewer of them are simpler or leave more room; ``plain`` names values that are
    simpler than their alternatives. Either makes a value worth mentioning that is hardly slower. ``fuses``: the
    technique vouches that the result is the same, and fewer bytes between kernels are the point of it.
    """

    label: str
    values: Callable[[int], tuple[int, ...]] = _around
    noun: str = ""
    plain: Mapping[Any, str] = field(default_factory=dict)
    fuses: bool = False


LEVERS: dict[Kind, Lever] = {
    Kind.STAGES: Lever("stages", noun="stages"),
    Kind.INPUT_STAGES: Lever("input stages", noun="input stages"),
    Kind.OUTPUT_STAGES: Lever("output stages", noun="output stages"),
    Kind.BUFFERS: Lever("buffers", noun="buffers"),
    Kind.TILE: Lever("tile", _scaled),
    Kind.PER_SM: Lever("CTAs per SM"),
    Kind.WARPS: Lever("warps", _scaled),
    Kind.CONSUMERS: Lever("consumer warps", _scaled),
    Kind.COMPUTING: Lever("computing warps", _scaled),
    Kind.LOADS: Lever("loads in flight", _around, "loads in flight"),
    Kind.LOAD_BATCH: Lever("loads in flight", _scaled, "loads in flight"),
    Kind.VECTOR: Lever("vector", _scaled),
    Kind.STREAMS: Lever("streams", noun="streams"),
    Kind.STREAMS_EACH_WAY: Lever("streams per direction", noun="streams per direction"),
    Kind.CHUNKS: Lever("chunks", _scaled),
    Kind.COPIES: Lever("copies", _scaled),
    Kind.BATCHES: Lever("batches", _scaled),
    Kind.GRID: Lever("CTAs", _scaled),
}
"""Levers that many techniques have, the most telling first; those of one technique stand in its parameters."""

OTHER_LABELS = {"resident": "resident CTAs", "total": "tiles in total"}


@dataclass(frozen=True)
class Proposal:
    """A change to try: ``overrides`` by dotted path, and in words ``change`` with what ``also`` changes for its sake.

    Where they leave more or less work, one of the loop counts ``balance`` ({path: present value}) is scaled.
    ``order`` is the place among the values tried for this lever; ``enough`` as in `enough`, ``fuses`` as in `Lever`;
    ``kind``: what the lever is, if it is of a kind.
    """

    lever: str
    change: str
    overrides: Mapping[str, Any]
    also: tuple[str, ...] = ()
    balance: Mapping[str, int] = field(default_factory=dict)
    order: int = 0
    enough: str = ""
    fuses: bool = False
    kind: Kind | None = None


def levers_of(fields: Mapping[str, dataclasses.Field]) -> dict[str, Lever]:
    """The levers among the ``fields`` of a technique's parameters, its own ones last."""
    own = {name: field.metadata["lever"] for name, field in fields.items() if field.metadata.get("lever")}
    known = {
        name: lever
        for kind, lever in LEVERS.items()
        for name, field in fields.items()
        if field.metadata.get("kind") is kind
    }
    return known | own


def enough(lever: Lever, old: Any, new: Any, noun: str = "") -> str:
    """``2 stages are``, to be followed by "enough", where ``new`` is simpler than ``old``; else nothing."""
    if new in lever.plain:
        return lever.plain[new]
    noun = noun or lever.noun
    if not noun or not new < old:
        return ""
    return f"{new} {noun} are" if new > 1 else f"1 {_singular(noun)} is"


def _singular(noun: str) -> str:
    """One of them: "stages in flight" and "slots of buffers" are so many stages and slots, "input stages" stages."""
    counted, of, name = noun.partition(" of ")
    first, blank, rest = counted.partition(" ")
    one = counted.removesuffix("s") if counted.endswith("s") else first.removesuffix("s") + blank + rest
    return one + of + name


def values_to_try(lever: Lever, value: Any, limits: Mapping[str, Any]) -> Iterator[Any]:
    """Other values of a parameter that its own ``limits`` allow, the nearest first."""
    choices = limits.get("choices")
    if choices or isinstance(value, bool):
        yield from _other_choices(value, choices or (False, True))
        return
    low, high = limits.get("ge"), limits.get("le")
    for other in dict.fromkeys(lever.values(value)):
        fits = (low is None or other >= low) and (high is None or other <= high)
        if fits and other > 0 and other != value and other % (limits.get("multiple_of") or 1) == 0:
            yield other


def _other_choices(value: Any, choices: tuple) -> tuple:
    """The neighbours of a number, all others of a word."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return tuple(choice for choice in choices if choice != value)
    place = sorted(choices).index(value)
    return tuple(sorted(choices)[i] for i in (place + 1, place - 1) if 0 <= i < len(choices))


def label(name: str, lever: Lever | None = None) -> str:
    """A parameter on screen: that of its ``lever``, or its name in words."""
    if lever is not None:
        return lever.label
    # fill_s is a time of filling.
    words = f"{name[:-2]} time" if name.endswith("_s") else name
    return OTHER_LABELS.get(name, words.replace("_", " ").replace("per cta", "per CTA"))


def shown(value: Any, unit: str | None = None) -> str:
    """A value on screen, in the unit that reads best."""
    if unit == "bytes":
        return format_quantity(float(value), "bytes")
    if unit in ("s", "time"):
        return format_quantity(float(value), "time")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


def grid_with(count: int, old: int, new: int, sms: int) -> int | None:
    """The grid that goes with ``new`` CTAs per SM as ``count`` does with ``old``, so that whole waves stay whole.

    None where there is none.
    """
    if count % (old * sms) or (count > old * sms and count % (new * sms) == 0):
        return count
    return count // old * new if count % old == 0 else None


def grids_to_try(grid: int, wave: int) -> tuple[int, ...]:
    """Other grids: none for one whole wave (the CTAs per SM are its lever), else whole waves, double and half."""
    if grid == wave:
        return ()
    down = grid // wave * wave
    whole = (down + wave, down) if grid % wave else ()
    return tuple(other for other in dict.fromkeys((*whole, 2 * grid, grid // 2)) if other > 0)


def whole(value: float) -> float:
    """A share as people would write it: a whole number where it is one, without the dust of a division."""
    return int(value) if float(value).is_integer() else float(f"{value:.12g}")
