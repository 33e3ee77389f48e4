"""The changes of a what-if: from what is typed and pressed in its panel to a list of them, with those before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from gpusim.dashboard.page.altered import BY_FIELD, stepped, undone
from gpusim.dashboard.page.case import OWN_POINT, Asked, CaseError, CaseSource
from gpusim.dashboard.page.form import changes_of
from gpusim.dashboard.page.panel import DROP, FIELD, THE_TEXT
from gpusim.dashboard.page.scenario_text import path_of
from gpusim.dashboard.page.sweep_tables import PICK

__all__ = ["changed_list", "changes_after", "happened", "register_changing"]

_PRESSED = "pressed"
"""Where the page keeps which chip or row of a sweep was clicked: those come and go, and a click must outlive them."""


def changed_list(
    trigger: Any, known: Mapping[str, Any], typed: tuple[str, ...], quantity: tuple[str | None, str | None]
) -> dict[str, Any] | None:
    """The state (`altered`) after ``trigger``, an id of the panel or what was clicked; None if it has changed nothing.

    ``typed``: what the fields say, and changes that are no field's. ``quantity``: of the device, and its new value.
    """
    if trigger == "undo":
        return undone(known)
    before, text = list(known["list"]), known.get("text")
    after = before
    if trigger == "reset":
        after, text = [], None
    elif trigger == "quantity-value":
        name, value = quantity[0], (quantity[1] or "").strip()
        if name and value:
            path = f"device.set.{name}"
            after = [*(change for change in before if path_of(change) != path), f"{path}={value}"]
    elif trigger["type"] == PICK:
        point = trigger["changes"].split("\n")
        paths = set(map(path_of, point))
        after = [*(change for change in before if path_of(change) not in paths), *point]
    elif trigger["type"] == DROP:
        after = [change for change in before if change != trigger["change"]]
        text = None if trigger["change"] == THE_TEXT else text
    else:
        after = list(typed)
    return stepped(known, after, text, BY_FIELD if _is_field(trigger) else "")


def changes_after(
    source: CaseSource, asked: Asked, trigger: Any, value: Any, known: Mapping[str, Any], typed: Mapping[str, Any],
    quantity: tuple[str | None, str | None],
) -> dict[str, Any] | None:  # fmt: skip
    """The state after ``trigger`` has got a ``value``; None where that changes nothing.

    ``asked``: what is changed; of its fields ``typed`` are the values by path. ``known`` and ``quantity`` are those of
    `changed_list`.
    """
    changes: tuple[str, ...] = ()
    if not trigger or (trigger == _PRESSED and not value):
        return None
    if trigger == _PRESSED:
        trigger = value
    elif trigger == "sweep-graph":
        point = _clicked(value)
        if not point:
            return None
        trigger = {"type": PICK, "changes": point}
    elif _is_field(trigger):
        try:
            changes = _by_fields(source, asked, known, typed)
        except CaseError:
            return None
    return changed_list(trigger, known, changes, quantity)


def _by_fields(
    source: CaseSource, asked: Asked, known: Mapping[str, Any], typed: Mapping[str, Any]
) -> tuple[str, ...]:  # fmt: skip
    """What the fields say, and the changes that are none of theirs. Raises CaseError for what has no fields."""
    base = replace(asked, text=known.get("text"))
    try:
        return changes_of(source.form(replace(base, changes=tuple(known["list"]))).fields, typed, known["list"])
    except CaseError:
        # With a change that cannot be there are the fields as they are without any.
        fields = source.form(base).fields
        paths = {one.path for one in fields}
        return changes_of(fields, typed, [change for change in known["list"] if path_of(change) not in paths])


def happened(triggered: Sequence[Mapping[str, Any]], ids: Mapping[str, Any]) -> tuple[Any, Any]:
    """The id that has triggered a callback, and its value: ``triggered`` and ``triggered_prop_ids`` of Dash.

    Fields that have just been put there or taken away count as triggers, too. What was pressed meanwhile stands among
    them.
    """
    told = [(ids.get(one["prop_id"]), one["value"]) for one in triggered]
    return next(((trigger, value) for trigger, value in told if trigger and not _is_field(trigger)), told[0])


def _is_field(trigger: Any) -> bool:
    return isinstance(trigger, Mapping) and trigger["type"] == FIELD


def _clicked(value: Mapping[str, Any] | None) -> str:
    """The changes of the point of a sweep that was clicked; "" where the click was beside them all."""
    points = (value or {}).get("points") or [{}]
    return points[0].get("customdata") or ""


def register_changing(app: Dash, source: CaseSource) -> None:
    """Bind the panel's fields and buttons to the list of changes."""

    @app.callback(
        output={"changes": Output("changes", "data", allow_duplicate=True), "value": Output("quantity-value", "value")},
        inputs={
            "values": Input({"type": FIELD, "path": ALL}, "value"),
            "_pressed": (Input("undo", "n_clicks"), Input("reset", "n_clicks"), Input("quantity-value", "n_submit"),
                         Input("sweep-graph", "clickData"), Input(_PRESSED, "data")),
        },
        state={
            "ids": State({"type": FIELD, "path": ALL}, "id"), "known": State("changes", "data"),
            "picked": (State("scenario", "value"), State("point", "value")),
            "quantity": (State("quantity", "value"), State("quantity-value", "value")),
        },
        prevent_initial_call=True,
    )  # fmt: skip
    def on_changed(
        values: list, _pressed: tuple, ids: list[dict], known: dict, picked: tuple, quantity: tuple
    ) -> dict[str, Any]:  # fmt: skip
        typed = {of["path"]: value for of, value in zip(ids, values, strict=True)}
        asked = Asked(picked[0] or "", picked[1] or OWN_POINT)
        trigger, value = happened(ctx.triggered, ctx.triggered_prop_ids)
        after = changes_after(source, asked, trigger, value, known, typed, quantity)
        if after is None:
            raise PreventUpdate
        return {"changes": after, "value": "" if trigger == "quantity-value" else no_update}
