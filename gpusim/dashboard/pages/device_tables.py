"""The quantities of a device profile, as they are searched and shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from dash import html

from gpusim.dashboard.figure.text import counted
from gpusim.errors import UnitError
from gpusim.hardware.profile import KINDS, DeviceProfile, Quantity
from gpusim.units import format_quantity, parse_any

__all__ = ["KIND_MEANING", "found", "group_of", "kind_counts", "number_and_unit", "quantity_table"]

KIND_MEANING = {
    "specified": "stated by a document of the vendor",
    "measured": "by a microbenchmark of this project",
    "published": "measured by somebody else",
    "assumed": "by nobody: taken from another device, or a guess",
}


def group_of(quantity: Quantity) -> str:
    """The first word of its name."""
    return quantity.name.partition(".")[0]


def number_and_unit(quantity: Quantity) -> tuple[str, str]:
    """``4.661 us`` apart; the unit is "" for a count."""
    number, _, unit = _plain(quantity.text).partition(" ")
    return number, unit


def _plain(text: str) -> str:
    """As the source states it, but without powers of ten: ``2.075e+04 GB/s`` is ``20.75 TB/s``."""
    if "e+" not in text:
        return text
    try:
        return format_quantity(*parse_any(text))
    except UnitError:
        return text


def found(profile: DeviceProfile, words: str = "", kind: str = "") -> list[Quantity]:
    """The quantities of one kind (or of all, "") that have every word in their name, kind or source."""
    wanted = words.lower().split()
    return [
        quantity
        for quantity in profile.quantities.values()
        if kind in ("", quantity.kind)
        and all(word in f"{quantity.name} {quantity.kind} {quantity.source}".lower() for word in wanted)
    ]


def kind_counts(profile: DeviceProfile) -> dict[str, int]:
    """How many quantities are of each kind that there is."""
    counts = Counter(quantity.kind for quantity in profile.quantities.values())
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def quantity_table(quantities: Iterable[Quantity]) -> html.Table:
    """Value, unit, kind, spread and source of each, in groups by the first word of their names."""
    head = html.Thead(html.Tr([
        html.Th(word, scope="col", className="" if word == "value" else "words")
        for word in ("quantity", "value", "unit", "kind", "spread", "source")
    ]))  # fmt: skip
    bodies = [
        html.Tbody([_heading(name, len(members)), *map(_row, members)])
        for name, members in ((name, list(of)) for name, of in groupby(sorted(quantities, key=group_of), key=group_of))
    ]
    return html.Table([head, *bodies], className="ranking quantities")


def _heading(name: str, count: int) -> html.Tr:
    words = [html.Span(name, className="group-name"), html.Span(counted(count, "quantity"), className="dim")]
    return html.Tr(html.Th(words, colSpan=6, scope="rowgroup"), className="group-row", id=f"group-{name}")


def _row(quantity: Quantity) -> html.Tr:
    number, unit = number_and_unit(quantity)
    return html.Tr([
        html.Th(quantity.name, scope="row"), html.Td(number), html.Td(unit, className="words"),
        html.Td(quantity.kind, className=f"words kind-{quantity.kind}", title=KIND_MEANING[quantity.kind]),
        html.Td(_plain(quantity.spread), className="words dim"), html.Td(quantity.source, className="words source"),
    ])  # fmt: skip
