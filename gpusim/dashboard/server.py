"""The web application around a source of cases; loopback only, no debug mode, nothing from outside."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

import dash_mantine_components as dmc
from dash import Dash
from flask import Response, abort, has_request_context, request
from werkzeug.serving import make_server

from gpusim.dashboard.page.address import address_of, asked_of, ignored_in
from gpusim.dashboard.page.callbacks import register
from gpusim.dashboard.page.case import CaseSource
from gpusim.dashboard.page.content import first_name, show_case, show_form
from gpusim.dashboard.page.data import ScenarioFolder
from gpusim.dashboard.page.importing import address_message
from gpusim.dashboard.page.imports import MOST_BYTES
from gpusim.dashboard.page.layout import page
from gpusim.dashboard.pages.accuracy import register_accuracy
from gpusim.dashboard.pages.device import register_device
from gpusim.dashboard.pages.learn import register_learn
from gpusim.dashboard.ports import HOST, LAST_PORT, PORT
from gpusim.errors import GpusimError

__all__ = ["build_app", "serve"]


MOST_SENT = MOST_BYTES * 3 // 2
"""Bytes of a request; a browser sends a trace as text."""


def build_app(source: CaseSource) -> Dash:
    """The Dash application showing ``source``; the scenario list is read anew with every page."""
    app = Dash(
        "gpusim",
        title="gpusim",
        update_title=None,
        assets_folder=str(Path(__file__).parent / "assets"),
        serve_locally=True,
        assets_ignore=r"^pages",
        suppress_callback_exceptions=True,
    )
    app.server.config["MAX_CONTENT_LENGTH"] = MOST_SENT
    app.server.before_request(_only_this_machine)
    app.server.after_request(_no_layout_twice)
    app.layout = lambda: _opening(source)
    register(app, source)
    register_accuracy(app.server, source)
    register_device(app.server, source)
    register_learn(app.server, source)
    return app


def _only_this_machine() -> None:
    """Refuse what another site's page sends under a name of its own (DNS rebinding)."""
    if request.host.rpartition(":")[0] not in (HOST, "localhost") and request.host not in (HOST, "localhost"):
        abort(403)


def _no_layout_twice(response: Response) -> Response:
    """Keep a browser that goes back from taking the layout of another address of the same page."""
    if request.path.endswith("/_dash-layout"):
        response.headers["Cache-Control"] = "no-store"
    return response


def _opening(source: CaseSource) -> dmc.MantineProvider:
    """The page at its address, which the request for the layout names as where it comes from."""
    asked = urlsplit(request.referrer or "").query if has_request_context() else ""
    address = address_of(asked)
    name = address["scenario"] or first_name(source)
    wanted = asked_of(address | {"name": name})
    shown = show_case(source, wanted) | show_form(source, wanted) | {"stamp": source.stamp(name)}
    shown["import_message"] = address_message(ignored_in(asked))
    return page(source.entries(), address | {"scenario": name}, shown)


def serve(scenarios: str | Path, *, port: int = PORT, browser: bool = True) -> None:
    """Serve the scenarios of a folder at 127.0.0.1 until interrupted; opens the browser if wanted.

    Raises GpusimError where the folder does not exist or the port is taken.
    """
    folder = Path(scenarios)
    if not folder.is_dir():
        raise GpusimError(f"{folder}: no such folder; give the one with the scenario files")
    if not 0 <= port <= LAST_PORT:
        raise GpusimError(f"{port} is no port: choose one from 0 (any free one) to {LAST_PORT} with --port")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # not a line per request
    application = build_app(ScenarioFolder(folder)).server
    try:
        with contextlib.redirect_stderr(None):  # werkzeug prints its own advice before it exits
            server = make_server(HOST, port, application, threaded=True)
    except (OSError, SystemExit) as error:
        raise GpusimError(f"port {port} of {HOST} cannot be used; choose another with --port") from error
    address = f"http://{HOST}:{server.server_port}/"
    sys.stdout.write(f"gpusim dashboard at {address} (Ctrl+C to stop)\n")
    sys.stdout.flush()
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    with server, contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
