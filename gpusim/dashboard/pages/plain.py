"""Components as plain data, for tables of hundreds of rows.

Dash takes half a minute to put three hundred rows that a callback returns into a page, as it keeps track of each cell.
The page's script builds such a table from plain data at once.
"""

from __future__ import annotations

from typing import Any

from dash.development.base_component import Component

__all__ = ["plain"]

_ATTRIBUTES = {"className": "class", "colSpan": "colspan"}
"""What HTML calls otherwise."""


def plain(component: Any) -> Any:
    """``[tag, attributes, children]`` of an HTML component; text and numbers are text."""
    if component is None:
        return []
    if isinstance(component, list | tuple):
        return [plain(child) for child in component]
    if not isinstance(component, Component):
        return str(component)
    properties = component.to_plotly_json()["props"]
    children = properties.pop("children", None)
    inside = children if isinstance(children, list | tuple) else [] if children is None else [children]
    attributes = {
        _ATTRIBUTES.get(name, name): str(value)
        for name, value in properties.items()
        if value not in (None, "")
    }  # fmt: skip
    return [type(component).__name__.lower(), attributes, plain(inside)]
