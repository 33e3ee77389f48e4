"""What is shown, for other tools: a menu, and the files that it hands to the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dash_mantine_components as dmc
from dash import Dash, Input, Output, State, ctx, dcc, html
from dash.exceptions import PreventUpdate

from gpusim.dashboard.page.address import asked_of
from gpusim.dashboard.page.case import Case, CaseError, CaseSource
from gpusim.timeline import Timeline
from gpusim.timeline.export import to_chrome_json, to_csv

__all__ = ["export_menu", "exported", "register_exporting"]

_FORMATS: dict[str, tuple[str, str, Callable[[Mapping[str, Timeline]], str]]] = {
    "export-json": ("Timelines for Perfetto (.json)", "json", to_chrome_json),
    "export-csv": ("Intervals as a table (.csv)", "csv", to_csv),
}
"""By the id of a menu entry what it says, the file's ending, and what writes it."""


def export_menu() -> html.Div:
    """The button in the page's header, and what takes the file to the browser."""
    entries = [dmc.MenuItem(told, id=name) for name, (told, _, _) in _FORMATS.items()]
    button = dmc.Button("Export", size="compact-sm", variant="default",
                        **{"aria-label": "Save the timelines for other tools"})  # fmt: skip
    menu = dmc.Menu([dmc.MenuTarget(button), dmc.MenuDropdown(entries)], position="bottom-start")
    return html.Div([menu, dcc.Download(id="download")])


def exported(case: Case, entry: str) -> tuple[str, str]:
    """Name and text of the file that a menu ``entry`` stands for: all of both sides, not only what is in sight."""
    _, ending, write = _FORMATS[entry]
    sides = {track.title: track.timeline for track in (case.predicted, case.other) if track is not None}
    return f"{case.name}.{ending}", write(sides)


def register_exporting(app: Dash, source: CaseSource) -> None:
    """Bind the menu to what the page shows."""

    @app.callback(
        Output("download", "data"), [Input(name, "n_clicks") for name in _FORMATS], State("case", "data"),
        prevent_initial_call=True,
    )  # fmt: skip
    def on_export(*given: Any) -> dict[str, Any]:
        held = given[-1]
        if not held or not any(given[:-1]):
            raise PreventUpdate
        try:
            case = source.case(asked_of(held))
        except CaseError:
            raise PreventUpdate from None
        name, text = exported(case, ctx.triggered_id)
        return dcc.send_string(text, name)
