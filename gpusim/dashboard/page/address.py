"""What a browser says, as checked values: the page's address, and the state of its controls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode

from gpusim.dashboard.figure.view import MODES, Selection, View
from gpusim.dashboard.page.case import MEASURED, OWN_POINT, UNCHANGED, Asked
from gpusim.scenario.yaml_source import shown

__all__ = ["CONTROLS", "address_of", "asked_of", "ignored_in", "query_of", "view_of"]

CONTROLS = {
    "mode": ("mode", "value"), "align": ("align", "value"), "align_kind": ("align-kind", "value"),
    "align_tile": ("align-tile", "value"), "offset": ("offset", "value"), "search": ("search", "value"),
    "critical": ("critical", "checked"), "window": ("window", "data"), "lanes": ("lanes", "data"),
    "selected": ("selected", "data"), "viewport": ("viewport", "data"), "theme": ("theme", "data"),
}  # fmt: skip
"""The controls that a view depends on, by what `view_of` calls them: id and property."""
_PARTS = ("scenario", "point", "set", "against", "mode", "from", "to")
MOST_LETTERS = 4000
"""What of a longer address goes beyond is left out, with all of the entry in which it ends."""


def _number(value: Any) -> float | None:
    """A finite float, or None for anything else a browser or an address may hold."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def address_of(search: str | None) -> dict[str, Any]:
    """The page's address as a dictionary: scenario, point, changes, against, mode, window; nonsense is dropped."""
    text = (search or "").lstrip("?")
    if len(text) > MOST_LETTERS:
        # Half of "set=stages=16" would be another change.
        text = text[: MOST_LETTERS + 1].rpartition("&")[0]
    every = parse_qs(text)
    query = {key: values[0] for key, values in every.items()}
    mode = query.get("mode")
    low, high = _number(query.get("from")), _number(query.get("to"))
    return {
        "scenario": query.get("scenario"),
        "point": query.get("point", OWN_POINT),
        "changes": every.get("set", []),
        "against": query.get("against") if query.get("against") in (MEASURED, UNCHANGED) else "",
        "mode": mode if mode in MODES else None,
        "window": [low, high] if low is not None and high is not None and low < high else None,
    }


def ignored_in(search: str | None) -> list[str]:
    """What `address_of` leaves out of an address, a sentence each."""
    text = (search or "").lstrip("?")
    told = []
    if len(text) > MOST_LETTERS:
        told.append(f"The address is longer than {MOST_LETTERS} letters: what goes beyond is left out.")
    query, known = parse_qs(text[:MOST_LETTERS], keep_blank_values=True), address_of(search)
    allowed = ", ".join(_PARTS)
    told += [
        f"{shown(name)} is nothing that an address here has (allowed: {allowed})."
        for name in query
        if name not in _PARTS
    ]
    for name, words in (("mode", MODES), ("against", (MEASURED, UNCHANGED))):
        if query.get(name, [""])[0] not in ("", *words):
            told.append(f"{name}: there is no {shown(query[name][0])} (allowed: {', '.join(words)}).")
    if {"from", "to"} & query.keys() and known["window"] is None:
        told.append("from and to: expected two numbers of microseconds, the smaller one first.")
    return told


def query_of(name: str, changes: Iterable[str] = ()) -> str:
    """What `address_of` takes a scenario and its changes from: ``?scenario=…&set=…``."""
    return "?" + urlencode([("scenario", name), *(("set", change) for change in changes)])


def asked_of(held: Mapping[str, Any]) -> Asked:
    """What the page shows, by what it holds of it (or its address by name)."""
    text = held.get("text")
    return Asked(
        str(held.get("name") or ""), str(held.get("point") or OWN_POINT),
        tuple(map(str, held.get("changes") or ())), str(held.get("against") or ""),
        str(held.get("imported") or ""), None if text is None else str(text),
    )  # fmt: skip


def view_of(key: str, values: Mapping[str, Any]) -> View:
    """The view that the page's `CONTROLS` describe. Window, lanes and selection of another case are dropped."""

    def own(name: str) -> dict[str, Any]:
        held = values.get(name)
        return held if isinstance(held, dict) and held.get("case") == key else {}

    window, lanes, chosen = own("window"), own("lanes"), own("selected")
    low, high = _number(window.get("low")), _number(window.get("high"))
    viewport = values.get("viewport") or {}
    tile = _number(values.get("align_tile"))
    index = _number(chosen.get("index"))
    return View(
        mode=values["mode"] if values.get("mode") in MODES else "stacked",
        window_us=(low, high) if low is not None and high is not None and high > low else None,
        align="event" if values.get("align") == "event" else "kernel",
        align_kind=values.get("align_kind") or "compute",
        align_tile=None if tile is None else int(tile),
        offset_us=_number(values.get("offset")) or 0.0,
        toggled={str(k): bool(v) for k, v in (lanes.get("toggled") or {}).items()},
        pinned=tuple(map(str, lanes.get("pinned") or ())),
        pattern=str(values.get("search") or ""),
        hidden=frozenset(int(c) for c in lanes.get("hidden") or ()),
        critical=bool(values.get("critical")),
        selected=Selection(str(chosen.get("side")), int(index)) if index is not None else None,
        width=int(min(max(_number(viewport.get("width")) or 1100, 200), 8000)),
        height=int(min(max(_number(viewport.get("height")) or 540, 120), 8000)),
        room=int(min(max(_number(viewport.get("room")) or 540, 120), 8000)),
        theme="dark" if values.get("theme") == "dark" else "light",
    )
