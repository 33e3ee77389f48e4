"""The page: header, cards, toolbar, timelines, details.

Ids are here, but for those inside the two panels of the drawer: `panel` and `sweep_panel` have their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html

from gpusim.dashboard.figure.figures import BAR_LIMIT
from gpusim.dashboard.figure.palette import FONT
from gpusim.dashboard.figure.view import MODES
from gpusim.dashboard.page.altered import opening
from gpusim.dashboard.page.case import MEASURED, UNCHANGED, Entry
from gpusim.dashboard.page.exporting import export_menu
from gpusim.dashboard.page.importing import drop_zone, import_button
from gpusim.dashboard.page.panel import drawer, what_if_panel
from gpusim.dashboard.page.sweep_panel import sweep_panel
from gpusim.timeline import KINDS

__all__ = ["KEYS", "PAGES", "brand", "navigation", "page", "scenario_options"]

PAGES = {"timelines": "/", "accuracy": "/accuracy/", "device": "/device/", "learn": "/learn/"}
"""All pages, by name, with where they are; this one comes first."""

KEYS = (
    ("+  −", "zoom in, zoom out (also Ctrl + wheel, or drag over a stretch)"),
    ("←  →", "move along the time axis (also Shift + drag)"),
    ("0", "show everything (also double click)"),
    ("1  2  3", ", ".join(MODES)),
    ("C", "critical path on and off"),
    ("W", "what if: change parameters and the device"),
    ("S", "the scenario's sweep: every point, predicted and measured"),
    ("/", "search lanes by regular expression"),
    ("Esc", "close details, leave the search box or the scenario's text"),
    ("?", "this help"),
)
WATCH_MS = 2000
"""Milliseconds between two looks at the scenario's file: what is saved in an editor is shown."""
GRAPH_CONFIG = {"displayModeBar": False, "doubleClick": False, "scrollZoom": False, "responsive": False}


def scenario_options(entries: Sequence[Entry]) -> list[dict]:
    """Options of the scenario picker; files that cannot be read stay selectable and say so."""
    known = ("prediction only", "recorded total", "recorded timeline")
    return [
        {"value": e.name, "label": e.name, "question": e.question or "cannot be read",
         "state": "has an error" if e.error else known[e.recorded]}
        for e in entries
    ]  # fmt: skip


def brand() -> html.A:
    """The name of the project, which leads to the timelines from everywhere."""
    parts = [html.Span("gpu", className="brand-a"), html.Span("sim", className="brand-b")]
    return html.A(parts, href=PAGES["timelines"], className="brand", **{"aria-label": "gpusim, timelines"})


def navigation(here: str) -> html.Nav:
    """Links to all pages; ``here`` is the one that is open."""
    links = [
        html.A(name.capitalize(), href=place, className=f"to-page to-{name}",
               **({"aria-current": "page"} if name == here else {}))
        for name, place in PAGES.items()
    ]  # fmt: skip
    return html.Nav(links, className="pages", **{"aria-label": "Pages"})


def _header(entries: Sequence[Entry], name: str | None, shown: Mapping[str, Any]) -> html.Header:
    picker = dmc.Select(
        id="scenario", data=scenario_options(entries), value=name, searchable=True, allowDeselect=False,
        size="xs", w=270, miw=165, maxDropdownHeight=520,
        placeholder="Choose a scenario", nothingFoundMessage="No scenario of that name",
        renderOption={"function": "scenarioOption"}, comboboxProps={"width": 460, "position": "bottom-start"},
        **{"aria-label": "Scenario"},
    )  # fmt: skip
    point = dmc.Select(
        id="point", data=shown["points"], value=shown["point"] or None, allowDeselect=False, searchable=True,
        size="xs", w="100%", maxDropdownHeight=420,
        comboboxProps={"width": 460, "position": "bottom-start"},
        **{"aria-label": "Recorded point"},
    )  # fmt: skip
    return html.Header(
        [
            brand(),
            navigation("timelines"),
            picker,
            html.Div(point, id="point-box", style=shown["point_box"], title="Recorded parameter sets"),
            dmc.Button("What if …", id="what-if-open", size="compact-sm", variant="default",
                       **{"aria-label": "Change parameters and the device"}),
            dmc.Button("Sweep", id="sweep-open", size="compact-sm", variant="default",
                       **{"aria-label": "Every point of the scenario's sweep"}),
            export_menu(),
            import_button(),
            html.Div(className="grow"),
            dmc.ActionIcon("◐", id="theme-toggle", variant="subtle", color="gray", **{"aria-label": "Light or dark"}),
            dmc.ActionIcon("?", id="help-open", variant="subtle", color="gray", **{"aria-label": "Keyboard help"}),
        ],
        className="header",
    )  # fmt: skip


def _toolbar(mode: str, shown: Mapping[str, Any]) -> html.Div:
    modes = [{"value": m, "label": m.capitalize()} for m in MODES]
    aligns = [{"value": "kernel", "label": "align: start"}, {"value": "event", "label": "align: first event"}]
    kinds = [kind for kind in KINDS if kind not in ("wait", "idle")]
    against = [{"value": word, "label": word.capitalize()} for word in (MEASURED, UNCHANGED)]
    sides = [
        dmc.SegmentedControl(id="mode", data=modes, value=mode, size="xs"),
        dmc.Select(id="align", data=aligns, value="kernel", size="xs", w=150, allowDeselect=False,
                   **{"aria-label": "Alignment"}),
        html.Div(
            [dmc.Select(id="align-kind", data=kinds, value="compute", size="xs", w=100, allowDeselect=False,
                        **{"aria-label": "Kind of the event"}),
             dmc.NumberInput(id="align-tile", placeholder="any tile", size="xs", w=84, min=0, max=10**9,
                             allowDecimal=False, hideControls=True, **{"aria-label": "Tile of the event"})],
            id="align-event", className="pair", style={"display": "none"},
        ),
        dmc.NumberInput(id="offset", value=0, size="xs", w=112, step=0.1, suffix=" µs", prefix="offset ",
                        decimalScale=4, stepHoldDelay=400, stepHoldInterval=80,
                        **{"aria-label": "Offset of the measured side in µs"}),
    ]  # fmt: skip
    return html.Div(
        [
            html.Div(dmc.SegmentedControl(id="against", data=against, value=shown["against"], size="xs"),
                     id="against-box", style=shown["against_box"], title="What the changed scenario stands against"),
            html.Div(sides, className="sides"),
            dmc.Switch(id="critical", label="Critical path", size="xs", checked=False),
            html.Div(shown["imported"], id="imported-mark", className="imported-mark"),
            html.Div(id="notice", className="notice"),
            html.Div(className="grow"),
            html.Span(id="count", className="range"),
            html.Span(id="range", className="range"),
            dmc.ButtonGroup([
                dmc.Button(text, id=name, size="compact-xs", variant="default", **{"aria-label": title})
                for text, name, title in (("−", "zoom-out", "Zoom out"), ("+", "zoom-in", "Zoom in"),
                                          ("All", "zoom-home", "Show everything"))
            ]),
        ],
        className="toolbar",
        id="toolbar",
    )  # fmt: skip


def _timeline() -> html.Div:
    search = dmc.TextInput(id="search", placeholder="Search lanes", size="xs", debounce=250,
                           **{"aria-label": "Search lanes by regular expression"})  # fmt: skip
    graph = dcc.Graph(id="graph", config=GRAPH_CONFIG, figure={"data": [], "layout": {"height": 10}}, responsive=False)
    return html.Div(
        [
            html.Div(
                [html.Div(search, className="search", title="A regular expression (key /)"),
                 html.Div(id="legend", className="legend")],
                className="legend-row",
            ),
            html.Div(
                html.Div(
                    [html.Div(id="gutter", className="gutter"), html.Div(graph, className="graph", id="graph-box"),
                     html.Div(html.Span(), id="cursor", className="cursor"), html.Div(id="tip", className="tip")],
                    className="canvas", id="canvas",
                ),
                className="scroller", id="scroller", tabIndex=0,
            ),
            html.Div(id="details", className="details", style={"display": "none"}),
        ],
        className="stage",
        id="stage",
    )  # fmt: skip


def _help() -> dmc.Modal:
    rows = [html.Tr([html.Td(html.Kbd(keys)), html.Td(what)]) for keys, what in KEYS]
    more = (
        "Click an interval for its numbers and an arrow from what released it, a kernel on a stream for the way to its "
        "warps. Click a group to fold it, the dot to "
        "pin a lane, a colour of the legend to hide it. Numbers in bars are tiles or chunks. Solid upright lines are "
        "the end of a side, dotted ones that of the other side, dashed ones that of the run its lanes were recorded "
        f"in. Up to {BAR_LIMIT:,} intervals are drawn one by one; above that time is binned. Where intervals are too "
        "short to be told apart, and where a row mixes lanes, a bin is filled by shares of the time from the bottom "
        "up, work below waits; hovering tells all shares."
    )
    return dmc.Modal([html.Table(html.Tbody(rows), className="keys"), html.P(more, className="dim")],
                     id="help", title="Keyboard and mouse", opened=False, size="lg")  # fmt: skip


def page(entries: Sequence[Entry], address: Mapping[str, Any], shown: Mapping[str, Any]) -> dmc.MantineProvider:
    """The whole page as it opens: ``address`` (see `address_of`) and what `show_case` shows of it."""
    held, area = shown["case"], address["window"]
    window = {"case": held["key"], "low": area[0], "high": area[1]} if held and area else None
    stores = [
        dcc.Store(id="case", data=held),
        dcc.Store(id="window", data=window),
        dcc.Store(id="drawn"),
        dcc.Store(id="advised"),
        dcc.Store(id="lanes"),
        dcc.Store(id="selected"),
        dcc.Store(id="viewport"),
        dcc.Store(id="theme", storage_type="local"),
        dcc.Store(id="wrong-fields"),
        dcc.Store(id="imported"),
        dcc.Store(id="pressed"),
        dcc.Store(id="changes", data=opening(address["changes"])),
        dcc.Store(id="stamp", data={"name": address["scenario"], "stamp": shown["stamp"], "changed": False}),
        dcc.Interval(id="tick", interval=WATCH_MS),
    ]
    # Badges share a line that is cut where there is no room: however many there are, nothing moves.
    about = [
        html.Div(shown["facts"], id="facts", className="facts"),
        html.Div(shown["badges"], id="badges", className="badges"),
    ]
    headline = [
        html.H1(shown["question"], id="question", className="question"),
        html.Div(about, className="about-row"),
    ]
    work = [_toolbar(address["mode"] or "stacked", shown), _timeline()]
    answer = [
        html.Div(shown.get("import_message"), id="import-message"),
        html.Div(shown["cards"], id="cards", className="cards"),
        html.Div(shown["advice"], id="advice", className="advice"),
        html.Div(shown["message"], id="message"),
        html.Div(work, id="work", className="work", style=shown["work"]),
    ]
    # Beside the timelines, not above them: what is changed is seen where it acts.
    panels = drawer(what_if_panel(shown, opened=bool(address["changes"])), sweep_panel())
    body = html.Div(
        [
            *stores,
            _header(entries, address["scenario"], shown),
            html.Div(headline, className="headline"),
            html.Div([html.Main(answer, className="answer"), panels], className="beside"),
            _help(),
            drop_zone(),
        ],
        className="app",
        id="app",
    )
    theme = {"fontFamily": FONT, "primaryColor": "blue", "defaultRadius": "sm"}
    return dmc.MantineProvider(body, id="provider", theme=theme, forceColorScheme="light")
