"""From what is typed into the scenario's text to what it makes of the scenario.

Other values of what stands there are changes, as those of the form are, if they say the typed text letter by letter.
All else is a text of its own, of which nothing is lost either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dash import Dash, Input, Output, State
from dash.exceptions import PreventUpdate

from gpusim.dashboard.page.altered import BY_TEXT, remembered, state_of
from gpusim.dashboard.page.case import OWN_POINT, Asked, CaseError, CaseSource
from gpusim.dashboard.page.scenario_text import path_of
from gpusim.dashboard.page.text_edits import changes_between

__all__ = ["after_text", "register_text", "text_key"]

STEP_MS = 1500
"""What is typed without such a pause is taken back at once."""


def text_key(name: str, point: str) -> str:
    """What a text is of; one that was typed for something else is not taken."""
    return f"{name}|{point or OWN_POINT}"


def after_text(
    source: CaseSource, own: Asked, typed: Mapping[str, Any], known: Mapping[str, Any], *, wrong: bool = False
) -> dict[str, Any]:
    """The state (`altered`) after ``known`` in which the text of ``own`` is the ``typed`` one.

    ``wrong``: the state that is known cannot be shown; nobody wants to go back to it.
    """
    text, changes = _told(source, own, str(typed["text"]), known)
    now, before = {"list": list(changes), "text": text}, state_of(known)
    after = {**known, "number": typed["number"], "at": typed["at"]}
    if now == before:
        return after
    goes_on = known["by"] == BY_TEXT and bool(known["history"]) and (wrong or typed["at"] - known["at"] < STEP_MS)
    history = known["history"] if goes_on else remembered(known["history"], before)
    return {**after, **now, "history": history, "by": BY_TEXT}


def _told(
    source: CaseSource, own: Asked, typed: str, known: Mapping[str, Any]
) -> tuple[str | None, Iterable[str]]:  # fmt: skip
    """The text and its changes that say what is typed."""
    file = source.text(own).text
    if typed == file:
        return None, ()
    found = changes_between(file, typed)
    if found is not None and _can_be_shown(source, own):
        return None, found
    base = replace(own, text=known.get("text"))
    before = source.text(replace(base, changes=tuple(known["list"]))).text
    found = changes_between(before, typed)
    if found is not None and _can_be_shown(source, base):
        every = tuple({path_of(change): change for change in (*known["list"], *found)}.values())
        if source.text(replace(base, changes=every)).text == typed:
            return base.text, every
    return typed, ()


def _can_be_shown(source: CaseSource, base: Asked) -> bool:
    """Whether changes can be made of it: a mistake in the text itself would stay."""
    try:
        source.form(base)
    except CaseError:
        return False
    return True


def register_text(app: Dash, source: CaseSource) -> None:
    """Bind what is typed to the state of the what-if."""

    @app.callback(
        Output("changes", "data", allow_duplicate=True), Input("typed", "data"), State("changes", "data"),
        State("scenario", "value"), State("point", "value"), State("wrong", "children"), prevent_initial_call=True,
    )  # fmt: skip
    def on_typed(typed: dict | None, known: dict, name: str | None, point: str | None, wrong: str | None) -> dict:
        if not typed or typed["of"] != text_key(name or "", point or ""):
            raise PreventUpdate
        return after_text(source, Asked(name or "", point or OWN_POINT), typed, known, wrong=bool(wrong))
