"""The scenario's text in the panel of a what-if: a plain text field over lines with numbers and marks.

The lines are behind the field and of the same letters, so that a line can be marked; the page's script fills both.
Tab leaves the field, as it leaves every other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, dcc, html

from gpusim.dashboard.page.altered import BY_TEXT, NOTHING
from gpusim.dashboard.page.case import Asked, CaseError, CaseSource
from gpusim.dashboard.page.scenario_text import lines_at
from gpusim.dashboard.page.typed_text import text_key

__all__ = ["editor", "file_changed", "register_editor", "shown_text"]


def shown_text(
    source: CaseSource, asked: Asked, known: Mapping[str, Any] = NOTHING, error: CaseError | None = None,
    *, typed: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """What the script puts into the field, and the lines that it marks; ``error``: why it cannot be shown.

    ``typed``: the text comes from there, so that only the marks are new.
    """
    found = source.text(asked)
    wrong = (error.lines or lines_at(found.text, error.fields)) if error else ()
    return {
        "of": text_key(asked.name, asked.point), "number": known.get("number", 0),
        "text": None if typed and known.get("by") == BY_TEXT else found.text,
        "changed": list(found.changed), "wrong": list(wrong),
    }  # fmt: skip


def file_changed(there: bool) -> list[Any]:
    """What stands above an edited text when its file has become another one, or is not ``there`` any more."""
    if not there:
        return ["The file is gone from the disk. This text is yours: save it under a name to keep it."]
    load = html.Button("Load the file", className="link", **{"data-press": "reset"})
    return ["The file has changed on the disk. This text is yours and stays. ", load]


def editor(shown: Mapping[str, Any]) -> html.Div:
    """The field over its lines, and below what is wrong with them: no line may move while one types."""
    field = html.Textarea(
        id="text-input", className="text-input", spellCheck="false", autoComplete="off", wrap="soft",
        **{"aria-label": "The scenario as a file", "aria-describedby": "wrong"},
    )  # fmt: skip
    return html.Div(
        [
            html.Div(id="text-note", className="text-note", role="status"),
            html.Div(
                html.Div([html.Div(id="text-lines", className="lines", **{"aria-hidden": "true"}), field],
                         className="text-sheet"),
                id="scenario-text", className="scenario-text",
            ),
            html.Div(shown["wrong"], id="wrong", className="wrong", role="status"),
            dcc.Store(id="text-shown", data=shown["text"]),
            dcc.Store(id="typed"),
        ],
        className="editor",
    )  # fmt: skip


def register_editor(app: Dash) -> None:
    """Bind the scripts that show a text and its marks, and keep an edited one in the address."""
    for output, input_, function in (
        (Output("text-lines", "title"), Input("text-shown", "data"), "show"),
        (Output("text-note", "title"), Input("changes", "data"), "keep"),
    ):
        app.clientside_callback(ClientsideFunction("gpusimText", function), output, input_)
