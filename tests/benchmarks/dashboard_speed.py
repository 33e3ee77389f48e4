"""How quick the page is in a real browser: `python tests/benchmarks/dashboard_speed.py [--repeat N]`.

Ready: from navigation to drawn timelines. Zoom: from the key to the refined picture, server
and drawing included (two animation frames after it). Server: the part of it in Python.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import statistics
import sys
import threading
import time
from pathlib import Path

SCENARIOS = ("ring", "dense100000", "dense200000", "dense1000000")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ZOOM = """([low, high]) => new Promise(done => {
    const begin = performance.now();
    gpusimView.setWindow(low, high);
    const look = () => {
        const drawn = gpusimView.meta().window;
        if (Math.abs(drawn[0] - low) > 1e-6 || Math.abs(drawn[1] - high) > 1e-6) return requestAnimationFrame(look);
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));
    };
    look();
})"""


def ready_s(page, address: str) -> float:
    """Seconds from navigation to drawn timelines."""
    begin = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_function("window.gpusimView && gpusimView.plot() && gpusimView.meta()")
    return time.perf_counter() - begin


def windows(page, repeat: int) -> list[tuple[float, float]]:
    """Windows of 20 %, 2 % and 0.2 % of the whole, at several places."""
    first, last = page.evaluate("gpusimView.meta().home")
    span = last - first
    return [
        (first + span * (0.1 + 0.7 * k / repeat), first + span * (0.1 + 0.7 * k / repeat + part))
        for k in range(repeat)
        for part in (0.2, 0.02, 0.002)
    ]


def server_ms(source, name: str, area: tuple[float, float]) -> float:
    """Milliseconds that Python spends on one picture."""
    from gpusim.dashboard.page.address import view_of
    from gpusim.dashboard.page.case import Asked
    from gpusim.dashboard.page.content import draw

    case, key = source.case(Asked(name)), f"{name}|own"
    held = {"case": key, "low": area[0], "high": area[1]}
    view = view_of(key, {"window": held, "viewport": {"width": 1200, "height": 640, "room": 640}})
    begin = time.perf_counter()
    draw(case, key, view)
    return 1000 * (time.perf_counter() - begin)


def main() -> None:
    """Print one line per scenario: medians, and the worst in brackets."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "dashboard"))
    from playwright.sync_api import sync_playwright
    from synthetic_source import Synthetic
    from werkzeug.serving import make_server

    from gpusim.dashboard import build_app
    from gpusim.dashboard.page.case import Asked

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    source = Synthetic()
    server = make_server("127.0.0.1", 0, build_app(source).server, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = next(filter(None, map(shutil.which, CHROMIUM)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name in SCENARIOS:
            source.case(Asked(name))
            address = f"http://127.0.0.1:{server.server_port}/?scenario={name}"
            ready, paint = [], []
            for _ in range(repeat):
                context = browser.new_context(viewport={"width": 1400, "height": 900})
                page = context.new_page()
                ready.append(ready_s(page, address))
                paint.append(
                    page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000
                )
                if len(ready) < repeat:
                    context.close()
            areas = windows(page, repeat)
            zoom = []
            for area in areas:
                page.wait_for_timeout(350)  # single steps, not a burst
                zoom.append(page.evaluate(ZOOM, list(area)))
            own = [server_ms(source, name, area) for area in areas]
            sys.stdout.write(
                f"{name:14} first paint {statistics.median(paint):.2f} s  ready {statistics.median(ready):.2f} s "
                f"({max(ready):.2f})  zoom {statistics.median(zoom):.0f} ms ({max(zoom):.0f})  "
                f"server {statistics.median(own):.0f} ms ({max(own):.0f})\n"
            )
            context.close()
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
