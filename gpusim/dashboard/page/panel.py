"""The panel of a what-if: fields to change, what has been changed, and the scenario that comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html

from gpusim.dashboard.figure.text import counted
from gpusim.dashboard.page.editor import editor
from gpusim.dashboard.page.form import Field, Form

__all__ = [
    "CHANGED_CLASS",
    "DROP",
    "FIELD",
    "PLAIN_CLASS",
    "SLIDER",
    "THE_TEXT",
    "change_chips",
    "drawer",
    "field_inputs",
    "panel_head",
    "quantity_options",
    "what_if_panel",
]

FIELD, DROP, SLIDER = "field", "drop", "slider"
"""Types of the ids of inputs, of the buttons that take a change back, and of sliders."""
THE_TEXT = ""
"""The change that is taken back with an edited text."""
PLAIN_CLASS, CHANGED_CLASS = "field", "field changed"
"""Classes of inputs."""
WAIT_MS = 100
"""Milliseconds from the last key to asking for a prediction."""


def _input(one: Field) -> Any:
    shared = {
        "id": {"type": FIELD, "path": one.path}, "label": one.label, "value": one.value, "size": "xs",
        "className": CHANGED_CLASS if one.value != one.base else PLAIN_CLASS,
    }  # fmt: skip
    if one.choices:
        data = [{"value": choice, "label": choice} for choice in one.choices]
        return dmc.Select(**shared, data=data, allowDeselect=False, searchable=len(data) > 6)
    if one.whole:
        return dmc.NumberInput(
            **(shared | {"value": int(one.value)}), min=one.least, max=one.most, step=one.step or 1,
            allowDecimal=False, clampBehavior="none", debounce=WAIT_MS, stepHoldDelay=400, stepHoldInterval=80,
        )  # fmt: skip
    return dmc.TextInput(**shared, debounce=WAIT_MS)


def _slider(one: Field) -> list[dmc.Slider]:
    """Under the input of a field that has stops; a dot marks the value without changes.

    The page's script keeps slider and input in step: any value can be typed, the slider is at the nearest of its own.
    """
    if not one.stops:
        return []
    values, texts = zip(*one.stops, strict=True)
    at = texts.index(one.value) if one.value in texts else texts.index(one.base)
    stops = {"values": list(values), "texts": list(texts), "whole": one.whole}
    return [
        dmc.Slider(
            id={"type": SLIDER, "path": one.path}, min=0, max=len(values) - 1, value=at, updatemode="drag",
            size=3, thumbSize=11, label={"function": "sliderStop", "options": stops},
            marks=[{"value": texts.index(one.base)}], thumbLabel=f"{one.label}, slider", className="slider",
        )
    ]  # fmt: skip


def field_inputs(form: Form) -> list[html.Div]:
    """One input for each field, with its meaning on hover, and a slider for what is bounded."""
    return [
        html.Div([_input(one), *_slider(one)], title=f"{one.path}: {one.why}" if one.why else one.path)
        for one in form.fields
    ]


def change_chips(changes: Sequence[str], edited_lines: int | None = None) -> list[Any]:
    """Every change with a button that takes it back; ``edited_lines`` of an edited text are one more."""
    chips = [_chip(change, change) for change in changes]
    if edited_lines is not None:
        chips.insert(0, _chip(f"text edited, {counted(edited_lines, 'line')}", THE_TEXT))
    return chips or [html.Span("nothing changed yet", className="dim")]


def _chip(text: str, change: str) -> html.Span:
    back = html.Button("×", className="drop", title="Take it back", **{"data-drop": change})
    return html.Span([text, back], className="change")


def quantity_options(form: Form) -> list[dict[str, str]]:
    """The quantities of the device, with the values they have."""
    return [{"value": name, "label": f"{name}  ({text})"} for name, text in form.quantities.items()]


def what_if_panel(shown: dict[str, Any], *, opened: bool) -> html.Section:
    """The panel around what `content.show_form` says; hidden until somebody asks for it."""
    quantity = [
        dmc.Select(id="quantity", data=shown["quantities"], placeholder="a quantity of the device", searchable=True,
                   clearable=True, size="xs", className="grow", **{"aria-label": "Quantity of the device"}),
        dmc.TextInput(id="quantity-value", placeholder="value, Enter", size="xs", w=112, value="",
                      **{"aria-label": "Value of the quantity"}),
    ]  # fmt: skip
    changed = [
        html.Div(shown["chips"], id="chips", className="chips"),
        dmc.Button("Undo", id="undo", size="compact-xs", variant="default"),
        dmc.Button("Reset", id="reset", size="compact-xs", variant="default"),
    ]
    save = [
        html.Span("Scenario", className="panel-name grow", title="Edit it: changed lines are blue, wrong ones red"),
        dmc.TextInput(id="save-name", placeholder="new scenario", size="xs", w=130, value="",
                      **{"aria-label": "Name of a new scenario"}),
        dmc.Button("Save", id="save", size="compact-xs", variant="default"),
    ]  # fmt: skip
    command = [
        html.Code(shown["command"], id="command", className="command"),
        dcc.Clipboard(target_id="command", className="copy", title="Copy"),
    ]
    return html.Section(
        [
            panel_head("What if", "what-if-open"),
            html.Div(shown["fields"], id="fields", className="fields"),
            html.Div(quantity, className="panel-row"),
            html.Div(changed, className="panel-row"),
            html.Div(save, className="panel-row"),
            editor(shown),
            html.Div(command, className="panel-row"),
        ],
        id="what-if", className="panel what-if", hidden=not opened, **{"aria-label": "What if"},
    )  # fmt: skip


def panel_head(title: str, button: str) -> html.Div:
    """What a panel is called, and the way to close it again: ``button`` is the id of the one that opened it."""
    close = html.Button("×", className="panel-close", title="Close", **{"data-press": button})
    return html.Div([html.H2(title, className="panel-name"), close], className="panel-head-row")


def drawer(*panels: html.Section) -> html.Aside:
    """The side of the page that holds the panels beside the timelines; gone while all of them are hidden."""
    grip = html.Div(id="drawer-grip", className="drawer-grip", title="Drag to resize", role="separator",
                    **{"aria-orientation": "vertical", "aria-label": "Width of the panels"})  # fmt: skip
    return html.Aside([grip, html.Div(list(panels), className="panels")], id="drawer", className="drawer")
