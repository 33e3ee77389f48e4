"""From what the user picks to what is asked for and shown: scenario, point, changes, and what it stands against."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dash import Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from gpusim.dashboard.page.address import CONTROLS, asked_of
from gpusim.dashboard.page.altered import BY_FIELD, BY_TEXT, NOTHING, stepped
from gpusim.dashboard.page.case import OWN_POINT, Asked, CaseError, CaseSource
from gpusim.dashboard.page.content import DRAWN, show_case, show_chips, show_drawn, show_form
from gpusim.dashboard.page.editor import file_changed, shown_text
from gpusim.dashboard.page.layout import scenario_options
from gpusim.dashboard.page.typed_text import after_text, text_key

__all__ = ["meant", "register_asking", "register_file", "shown_after", "wanted"]

_SHOWN = {
    "question": ("question", "children"), "facts": ("facts", "children"), "badges": ("badges", "children"),
    "cards": ("cards", "children"), "message": ("message", "children"), "work": ("work", "style"),
    "points": ("point", "data"), "point": ("point", "value"), "point_box": ("point-box", "style"),
    "against": ("against", "value"), "against_box": ("against-box", "style"), "case": ("case", "data"),
    "fields": ("fields", "children"), "quantities": ("quantity", "data"), "chips": ("chips", "children"),
    "text": ("text-shown", "data"), "command": ("command", "children"), "wrong": ("wrong", "children"),
    "changes": ("changes", "data"), "wrong_fields": ("wrong-fields", "data"),
    "imported": ("imported-mark", "children"),
}  # fmt: skip
_AGAIN = {
    "advice": ("advice", "children"), "advised": ("advised", "data"), "import_message": ("import-message", "children"),
    "note": ("text-note", "children"),
}  # fmt: skip
"""Written by other callbacks as well."""


def meant(trigger: str, picked: Mapping[str, Any], held: Mapping[str, Any] | None) -> str:
    """What to answer when ``trigger`` has changed: a scenario that is chosen and not shown yet comes first.

    Of two questions under way the page takes the later answer only, and the clock asks every two seconds.
    """
    name = picked["scenario"]
    # Nobody knows what a message is about; the clock has seen another name behind it, or the file saved again.
    renamed = trigger == "stamp" and not picked["stamp"]["changed"]
    unshown = asked_of(held).name != name if held else renamed
    return "scenario" if name and unshown else trigger


def wanted(trigger: str, picked: Mapping[str, Any], held: Mapping[str, Any] | None) -> Asked | None:
    """What to show now that ``trigger`` has changed, or None where that is shown already (``held``).

    ``picked``: the values of scenario, point, changes, against, imported and stamp, and what was wrong with the last
    changes.
    """
    name, point = picked["scenario"], picked["point"]
    made = picked["changes"] or NOTHING
    altered = {"changes": tuple(made["list"]), "text": made.get("text"), "against": ""}
    now = asked_of(held) if held else None
    before = now or Asked(name or "", point or OWN_POINT)
    match trigger:
        case "scenario":
            asked: Asked | None = Asked(name or "")
        case "point":
            # Showing a scenario sets the point too, which is no wish of the user.
            same = not point or (now is not None and (now.name, now.point) == (name, point))
            asked = None if same else Asked(name or "", point)
        case "against":
            asked = None if now is None or now.against == picked["against"] else replace(now, against=picked["against"])
        case "changes":
            asked = replace(before, **altered)
            same = now is not None and replace(now, against="") == asked and not picked["wrong"]
            asked = None if same else asked
        case "imported":
            key = (picked["imported"] or {}).get("key", "")
            asked = None if now is None or now.imported == key else replace(now, imported=key, against="")
        case _:  # the file
            asked = replace(before, **altered) if picked["stamp"]["changed"] else None
    return asked if name else None


def shown_after(
    source: CaseSource, trigger: str, picked: Mapping[str, Any], held: Mapping[str, Any] | None,
    values: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:  # fmt: skip
    """What the page shows now that ``trigger`` has changed, or None where nothing does; see `wanted`.

    ``values`` are those of the controls of the view: the timelines come with the answer, not after another question.
    """
    trigger = meant(trigger, picked, held)
    made = _begun(trigger, picked["changes"] or NOTHING)
    asked = wanted(trigger, picked, held)
    if asked is None:
        return None
    kept = dict.fromkeys([*_SHOWN, *_AGAIN, *DRAWN], no_update)
    if trigger == "changes" and held:
        # A change that cannot be is told beside the fields; what is shown stays.
        try:
            source.case(asked, quick=True)
        except CaseError as found:
            error = _in_its_text(source, asked, found) if made.get("by") == BY_TEXT else found
            return kept | {
                "wrong": _without_set(str(error)), "wrong_fields": list(error.fields),
                "chips": show_chips(source, asked), "text": shown_text(source, asked, made, error, typed=True),
            }  # fmt: skip
    shown = show_case(source, asked, quick=trigger == "changes") | {
        "changes": no_update,
        "advised": None,
        "import_message": [],
        "note": _note(trigger, asked, picked["stamp"]),
    }
    shown["point"] = no_update if trigger == "point" else shown["point"] or None
    if trigger != "against":
        shown |= show_form(source, asked, made, typed=trigger == "changes")
    if trigger == "changes" and _fields_are_there(source, asked, held, made.get("by"), picked["wrong"]):
        shown["fields"] = no_update
    if trigger in ("scenario", "point"):
        shown["changes"] = made
    elif held and trigger != "stamp":
        # Long lists, which are the same: a browser takes a while to put them up again.
        shown |= dict.fromkeys(("points", "point", "point_box"), no_update)
        if _of_device(asked_of(held)) == _of_device(asked):
            shown["quantities"] = no_update
    return kept | shown | show_drawn(source, shown["case"], values or {})


def _in_its_text(source: CaseSource, asked: Asked, error: CaseError) -> CaseError:
    """The same mistake with the line that it has in the text: whoever types there knows of no changes."""
    try:
        source.case(replace(asked, changes=(), text=source.text(asked).text), quick=True)
    except CaseError as found:
        return found
    return error


def _begun(trigger: str, made: Mapping[str, Any]) -> Mapping[str, Any]:
    """The what-if of what is shown then: none for another scenario; another point can be undone."""
    if trigger == "point":
        return stepped(made, [], None) or made
    return NOTHING if trigger == "scenario" else made


def _fields_are_there(
    source: CaseSource, asked: Asked, held: Mapping[str, Any] | None, by: str | None, wrong: str | None
) -> bool:
    """Whether the fields on the page say what is asked for: who types in them keeps the cursor, too.

    To put them up again takes a while. What a field says that is ``wrong`` is no value of what is ``held``.
    """
    if by != BY_TEXT or wrong or not held:
        return by == BY_FIELD
    try:
        return source.form(asked).fields == source.form(asked_of(held)).fields
    except CaseError:
        return False


def _note(trigger: str, asked: Asked, stamp: Mapping[str, Any]) -> Any:
    """That the file of an edited text has changed; it is told until the text is the file's again."""
    if asked.text is None:
        return []
    return file_changed(bool(stamp["stamp"])) if trigger == "stamp" else no_update


def register_asking(app: Dash, source: CaseSource) -> None:
    """Bind what can be picked to what is shown."""

    @app.callback(
        output={
            key: Output(*of, allow_duplicate=key not in _SHOWN) for key, of in (_SHOWN | _AGAIN | DRAWN).items()
        },
        inputs={"picked": {
            "scenario": Input("scenario", "value"), "point": Input("point", "value"),
            "changes": Input("changes", "data"), "against": Input("against", "value"), "stamp": Input("stamp", "data"),
            "imported": Input("imported", "data"),
        }},
        state={
            "held": State("case", "data"), "wrong": State("wrong", "children"),
            "values": {k: State(*v) for k, v in CONTROLS.items()},
        },
        prevent_initial_call=True,
    )  # fmt: skip
    def on_asked(
        picked: dict[str, Any], held: dict | None, wrong: str | None, values: dict[str, Any]
    ) -> dict[str, Any]:
        shown = shown_after(source, ctx.triggered_id, picked | {"wrong": wrong}, held, values)
        if shown is None:
            raise PreventUpdate
        return shown


def _of_device(asked: Asked) -> list[str]:
    """The changes that are of the device."""
    return [change for change in asked.changes if change.startswith("device")]


def _without_set(message: str) -> str:
    """A message about changes, whose places are named as options of the command line, and some as fields, too."""
    return re.sub(r"^--set ([^:\n]+): (?:\1: )?", r"\1: ", message, flags=re.MULTILINE)


def register_file(app: Dash, source: CaseSource) -> None:
    """Bind the scenario's file to the page: saved under another name, and shown again when an editor has saved it."""

    @app.callback(
        output={"options": Output("scenario", "data"), "name": Output("scenario", "value"),
                "typed": Output("save-name", "value"), "wrong": Output("wrong", "children", allow_duplicate=True)},
        inputs={"_clicks": Input("save", "n_clicks"), "_entered": Input("save-name", "n_submit")},
        state={"name": State("save-name", "value"), "picked": (State("scenario", "value"), State("point", "value")),
               "made": State("changes", "data"), "typed": State("typed", "data")},
        prevent_initial_call=True,
    )  # fmt: skip
    def on_save(
        _clicks: Any, _entered: Any, name: str | None, picked: tuple, made: dict, typed: dict | None
    ) -> dict[str, Any]:  # fmt: skip
        if not picked[0]:
            raise PreventUpdate
        name = (name or "").strip().removesuffix(".yaml")
        own = Asked(picked[0], picked[1] or OWN_POINT)
        if typed and typed["of"] == text_key(own.name, own.point) and typed["number"] > made["number"]:
            made = after_text(source, own, typed, made)  # the last letters are still on their way
        try:
            source.save(replace(own, changes=tuple(made["list"]), text=made["text"]), name)
        except CaseError as error:
            return dict.fromkeys(("options", "name", "typed"), no_update) | {"wrong": _without_set(str(error))}
        return {"options": scenario_options(source.entries()), "name": name, "typed": "", "wrong": ""}

    @app.callback(
        Output("stamp", "data"), Input("tick", "n_intervals"), State("scenario", "value"), State("stamp", "data"),
        prevent_initial_call=True,
    )  # fmt: skip
    def on_tick(_count: int, name: str | None, known: dict) -> dict[str, Any]:
        stamp = source.stamp(name or "")
        if (name, stamp) == (known["name"], known["stamp"]):
            raise PreventUpdate
        return {"name": name, "stamp": stamp, "changed": name == known["name"]}
