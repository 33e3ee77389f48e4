"""A served page with made-up cases, and a browser page that remembers what went wrong on it."""

from __future__ import annotations

import contextlib
import logging
import shutil
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "dashboard"))

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextlib.contextmanager
def served(source):
    """Where the dashboard shows a source; a free port of this machine."""
    from werkzeug.serving import make_server

    from gpusim.dashboard import build_app

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, build_app(source).server, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join(timeout=5)
    server.server_close()


@pytest.fixture(scope="session")
def address():
    """Where made-up cases are shown."""
    from synthetic_source import Synthetic

    with served(Synthetic()) as found:
        yield found


@pytest.fixture(scope="session")
def shipped_address():
    """Where the scenarios of the project are shown."""
    from gpusim.dashboard.page.data import ScenarioFolder

    with served(ScenarioFolder(Path(__file__).parents[2] / "scenarios")) as found:
        yield found


@pytest.fixture(scope="session")
def chromium():
    """The system's Chromium; nothing is downloaded."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A page with its console errors and its requests to anywhere but this machine."""

    def __init__(self, page, address):
        self.page = page
        self.address = address
        self.errors: list[str] = []
        self.outside: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._note)

    def _note(self, request):
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.outside.append(request.url)

    def open(self, query=""):
        """Go to the page and wait until its lanes stand there."""
        self.page.goto(f"{self.address}/{query}")
        self.page.wait_for_selector("#gutter .lane-row", timeout=30_000)
        self.page.wait_for_function("gpusimView.meta() !== null")
        return self.page

    def choose(self, name):
        """Choose a scenario from the list; what is still being drawn may close the list before it is clicked."""
        from playwright.sync_api import TimeoutError as TooLate

        for _ in range(3):
            # An open list would be closed by a click.
            self.page.keyboard.press("Escape")
            self.page.click("#scenario")
            try:
                self.page.click(f"[role=option] >> text=Question of {name}?", timeout=5_000)
                self.page.wait_for_function(f"location.search.includes('scenario={name}')", timeout=10_000)
            except TooLate:
                continue
            return
        pytest.fail(f"{name} could not be chosen")

    def figure(self):
        """What plotly shows: trace types, x range, number of y axes."""
        return self.page.evaluate(
            """() => { const gd = gpusimView.plot(); return {
                types: [...new Set(gd.data.map(t => t.type))], range: gd._fullLayout.xaxis.range.map(Number),
                axes: Object.keys(gd._fullLayout).filter(k => /^yaxis/.test(k)).length,
                mode: gd.layout.meta.mode, traces: gd.data.length } }"""
        )

    def wait_for_range(self, condition):
        """Wait until the drawn x range (low, high) meets a condition in JavaScript."""
        self.page.wait_for_function(
            f"() => {{ const [low, high] = gpusimView.plot()._fullLayout.xaxis.range.map(Number);"
            f" return {condition}; }}"
        )


@pytest.fixture
def watched(chromium, address):
    """A fresh page with made-up cases at 1400 × 900."""
    yield from _watched(chromium, address)


@pytest.fixture
def slow(chromium):
    """The same where whatever is changed takes more than a second to predict."""
    from synthetic_source import Synthetic

    class Slow(Synthetic):
        def case(self, asked, *, quick=False):
            time.sleep(1.2 if asked.altered and quick else 0.0)
            return super().case(asked, quick=quick)

    with served(Slow()) as address:
        yield from _watched(chromium, address)


@pytest.fixture
def shipped(chromium, shipped_address):
    """The same with the scenarios of the project."""
    yield from _watched(chromium, shipped_address)


@pytest.fixture
def mine(chromium, tmp_path):
    """The same with one scenario in a folder of its own, ``mine.folder``."""
    from one_scenario import SCENARIO

    from gpusim.dashboard.page.data import ScenarioFolder

    (tmp_path / "mine.yaml").write_text(SCENARIO)
    with served(ScenarioFolder(tmp_path)) as address:
        for seen in _watched(chromium, address):
            seen.folder = tmp_path
            yield seen


def _watched(chromium, address):
    """At its end a page must have had no error and no request outside."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    seen = Watched(context.new_page(), address)
    yield seen
    context.close()
    assert seen.errors == []
    assert seen.outside == []
