"""A trace that is dropped on the page, or chosen, to stand in the place of the recording; and the way back."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, dcc, html, no_update
from dash.exceptions import PreventUpdate

from gpusim.dashboard.page.address import asked_of
from gpusim.dashboard.page.case import Case, CaseError, CaseSource

__all__ = [
    "address_message",
    "drop_zone",
    "import_button",
    "import_message",
    "imported_after",
    "imported_mark",
    "register_importing",
]

_WHY = "Compare with a trace of your own: .npz of the probe, Chrome JSON, or the SQLite export of Nsight Systems"


def import_button() -> dmc.Button:
    """Opens the list of files; the page's script presses what the browser has for that."""
    return dmc.Button("Import", id="import-open", size="compact-sm", variant="default",
                      **{"aria-label": "Compare with a trace of your own"})  # fmt: skip


def drop_zone() -> html.Div:
    """What covers the page while a file is dragged over it."""
    told = [html.Div("Drop a trace to compare with", className="message-title"), html.Div(_WHY, className="dim")]
    return html.Div(dcc.Upload(html.Div(told), id="trace", className="drop-target"), className="drop-zone")


def import_message(text: str = "") -> list[Any]:
    """Why a file could not be imported; nothing where it could."""
    return _banner("Not imported", [text]) if text else []


def address_message(told: Sequence[str]) -> list[Any]:
    """What of the page's address is not shown, in sentences."""
    return _banner("Left out of the address", told) if told else []


def _banner(title: str, texts: Sequence[str]) -> list[Any]:
    close = html.Button("×", className="close", title="Close", **{"data-imported": "message"})
    return [html.Div([html.Span(title, className="strong"), *map(html.Div, texts), close],
                     className="banner import-wrong", role="alert")]  # fmt: skip


def imported_mark(case: Case) -> list[Any]:
    """What the measured side is from, with the way back to the recording; nothing where that is what is shown.

    The page's script takes back what ``data-imported`` names.
    """
    if not case.imported:
        return []
    back = "the recording" if case.recorded else "the prediction alone"
    text = html.Span(["measured: ", html.B(case.imported)], title=f"The measured side is of {case.imported}.")
    return [text, html.Button(f"back to {back}", className="link", **{"data-imported": "trace"})]


def imported_after(source: CaseSource, held: Any, file: str | None, content: str | None) -> tuple[str, str]:
    """The key of a file's ``content``, as a browser sends it, and "" — or "" and why it cannot be compared with."""
    file = (file or "the file")[:120]
    if not held:
        return "", f"{file}: choose a scenario that can be shown first; a trace is compared with its prediction."
    try:
        decoded = base64.b64decode((content or "").partition(",")[2], validate=True)
        return source.import_trace(asked_of(held), file, decoded), ""
    except binascii.Error:
        return "", f"{file}: did not arrive whole; try again."
    except CaseError as error:
        return "", str(error)


def register_importing(app: Dash, source: CaseSource) -> None:
    """Bind the files that are given to what the page compares with."""

    @app.callback(
        output={"imported": Output("imported", "data"), "message": Output("import-message", "children"),
                "content": Output("trace", "contents")},
        inputs={"content": Input("trace", "contents")},
        state={"file": State("trace", "filename"), "held": State("case", "data")},
        prevent_initial_call=True,
    )  # fmt: skip
    def on_dropped(content: str | None, file: str | None, held: dict | None) -> dict[str, Any]:
        if not content:
            raise PreventUpdate
        key, message = imported_after(source, held, file, content)
        # The same file again is a wish, too: nothing that has gone before may equal what is handed on.
        return {"imported": {"key": key, "at": time.time()} if key else no_update,
                "message": import_message(message), "content": None}  # fmt: skip
